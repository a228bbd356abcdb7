package dag_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

var errBoom = errors.New("boom")

// goroutine is the number of the goroutine that calls it.
func goroutine() string {
	stack := make([]byte, 64)
	return string(bytes.Fields(stack[:runtime.Stack(stack, false)])[1])
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	g := graphOf(t, []string{"a"})
	for _, row := range []struct {
		why     string
		options []dag.Option
		message string
	}{
		{"dag 15: negative concurrency", []dag.Option{dag.Concurrency(-1)},
			"run: concurrency -1: invalid option: want 0 (no goroutines) or more"},
		{"dag 14: no poll interval", []dag.Option{dag.PollInterval(0)},
			"run: poll interval 0s: invalid option: want more than 0"},
		{"no node timeout", []dag.Option{dag.NodeTimeout(0)},
			"run: node timeout 0s: invalid option: want more than 0"},
		{"a negative node timeout", []dag.Option{dag.NodeTimeout(-time.Second)},
			"run: node timeout -1s: invalid option: want more than 0"},
		{"negative patience with a cancelled run", []dag.Option{dag.Abandon(-time.Second)},
			"run: abandon after -1s: invalid option: want 0 or more"},
		{"nobody can return while the caller's goroutine visits", []dag.Option{dag.Abandon(0), dag.Concurrency(0)},
			"run: abandon after 0s: invalid option: can't be combined with concurrency 0, which runs visits on the caller's goroutine"},
		{"dag 14: all that is wrong is said", []dag.Option{dag.PollInterval(-time.Second), dag.Concurrency(-2)},
			"run: concurrency -2: invalid option: want 0 (no goroutines) or more\npoll interval -1s: invalid option: want more than 0"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			state, err := dag.Run(t.Context(), g, r.visit, row.options...)
			require.ErrorIs(t, err, dag.ErrInvalidOption)
			require.EqualError(t, err, row.message)
			assert.Equal(t, dag.State{}, state)
			assert.Empty(t, r.order(), "nothing is visited")
		})
	}
	t.Run("no context", func(t *testing.T) {
		t.Parallel()
		var none context.Context
		_, err := dag.Run(none, g, nil)
		require.ErrorIs(t, err, dag.ErrInvalidOption)
	})
	t.Run("the later of two options counts, a nil one doesn't", func(t *testing.T) {
		t.Parallel()
		_, err := dag.Run(t.Context(), g, nil, dag.Concurrency(-1), nil, dag.Concurrency(0))
		require.NoError(t, err)
	})
	t.Run("dag 14: without a visit every node is verified", func(t *testing.T) {
		t.Parallel()
		state, err := dag.Run(t.Context(), layeredDiamond(t, 3), nil)
		require.NoError(t, err)
		assert.Len(t, state.Verified(), 6)
	})
	t.Run("dag 15: the default concurrency follows GOMAXPROCS", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, min(32, runtime.GOMAXPROCS(0)+4), dag.DefaultConcurrency())
		assert.Equal(t, dag.DefaultConcurrency(), mostAtOnce(t, dag.DefaultConcurrency()))
	})
}

// mostAtOnce runs far more nodes than n and returns how many were visited at the same time. It
// waits in each visit for n to be there, and then for another one that must not come.
func mostAtOnce(t *testing.T, n int, options ...dag.Option) int {
	t.Helper()
	g := dag.New[int]()
	for i := range 4 * n {
		require.NoError(t, g.Add(strings.Repeat("n", i+1), i))
	}
	var now, most atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		state, err := dag.Run(t.Context(), g, func(context.Context, string, int) error {
			current := now.Add(1)
			defer now.Add(-1)
			for {
				known := most.Load()
				if current <= known || most.CompareAndSwap(known, current) {
					break
				}
			}
			time.Sleep(time.Second)
			return nil
		}, options...)
		require.NoError(t, err)
		require.True(t, state.VerifyCompleted())
	})
	return int(most.Load())
}

func TestRunConcurrency(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 8} {
		t.Run("dag 15: N nodes at the same time, never more", func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, n, mostAtOnce(t, n, dag.Concurrency(n)))
		})
	}
	t.Run("dag 15: 0 visits and asks on the caller's goroutine, to the end, one after the other", func(t *testing.T) {
		t.Parallel()
		caller := goroutine()
		g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"b", "a"}, [2]string{"d", "c"})
		asked := 0
		require.NoError(t, g.Depend("c", "b", dag.When(func(context.Context) (bool, error) {
			asked++
			assert.Equal(t, caller, goroutine())
			return asked > 1, nil
		})))
		busy := false
		_, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
			assert.False(t, busy)
			busy = true
			defer func() { busy = false }()
			assert.Equal(t, caller, goroutine(), name)
			return nil
		}, dag.Concurrency(0))
		require.NoError(t, err)
		assert.Equal(t, 1, asked, "nothing was in flight after the answer: it isn't asked again")
	})
	t.Run("dag 15: 0 leaves no goroutine behind, false predicates or not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			// A goroutine or timer left running would make the bubble's clock move or end in a deadlock.
			g := graphOf(t, []string{"a", "b", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) { return false, nil })))
			begin := time.Now()
			_, err := dag.Run(t.Context(), g, nil, dag.Concurrency(0))
			require.NoError(t, err)
			assert.Zero(t, time.Since(begin))
		})
	})
	t.Run("dag 15: all N are used whenever there is work for them", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := dag.New[int]()
			var before []string
			widths := []int{4, 1, 4, 1, 2, 1, 8, 1, 8}
			for layer, width := range widths {
				var names []string
				for i := range width {
					name := string(rune('a'+layer)) + string(rune('a'+i))
					names = append(names, name)
					require.NoError(t, g.Add(name, i))
					for _, dependency := range before {
						require.NoError(t, g.Depend(name, dependency))
					}
				}
				before = names
			}
			begin := time.Now()
			_, err := dag.Run(t.Context(), g, func(context.Context, string, int) error {
				time.Sleep(time.Second)
				return nil
			}, dag.Concurrency(8))
			require.NoError(t, err)
			assert.Equal(t, time.Duration(len(widths))*time.Second, time.Since(begin))
		})
	})
	t.Run("dag 15: a run has no more workers than it had work for at once", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b", "c"}, [2]string{"b", "a"}, [2]string{"c", "b"})
		goroutines := map[string]bool{}
		_, err := dag.Run(t.Context(), g, func(context.Context, string, string) error {
			goroutines[goroutine()] = true // one after the other: a chain
			return nil
		}, dag.Concurrency(8))
		require.NoError(t, err)
		assert.Len(t, goroutines, 1)
		assert.NotContains(t, goroutines, goroutine())
	})
}

func TestRunOrder(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"inline": 0, "one worker": 1} {
		t.Run("dag 28: ascending names in each set of ready nodes, "+name, func(t *testing.T) {
			t.Parallel()
			for _, row := range []struct {
				why   string
				names []string
				edges [][2]string
				want  []string
			}{
				{"no edges", []string{"c", "a", "b"}, nil, []string{"a", "b", "c"}},
				{"a layer before the next", []string{"z", "a", "b", "y"},
					[][2]string{{"b", "z"}, {"y", "a"}}, []string{"a", "z", "b", "y"}},
				{"diamond", []string{"d", "c", "b", "a"},
					[][2]string{{"d", "b"}, {"d", "c"}, {"b", "a"}, {"c", "a"}}, []string{"a", "b", "c", "d"}},
				{"two roots", []string{"r2", "r1", "x", "y"},
					[][2]string{{"x", "r2"}, {"y", "r1"}}, []string{"r1", "r2", "x", "y"}},
			} {
				g := graphOf(t, row.names, row.edges...)
				for range 3 {
					r := &recorder{}
					_, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(n))
					require.NoError(t, err)
					assert.Equal(t, row.want, r.order(), row.why)
				}
			}
		})
	}
	eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
		t.Run("dag 17: nothing starts before everything it waits for is verified", func(t *testing.T) {
			g := layeredDiamond(t, 30)
			var mu sync.Mutex
			done := map[string]bool{}
			_, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
				mu.Lock()
				defer mu.Unlock()
				for other := range strings.SplitSeq(childrenIn(g.String(), name), ",") {
					assert.True(t, other == "" || done[other], "%s started before %s ended", name, other)
				}
				done[name] = true
				return nil
			}, concurrency)
			require.NoError(t, err)
			assert.Len(t, done, 60)
		})
	})
	t.Run("dag 21: a slow branch doesn't delay a fast one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"c", "a"}, [2]string{"d", "b"})
			durations := map[string]time.Duration{"a": 1, "b": 2, "c": 4, "d": 1}
			begin := time.Now()
			started, ended := map[string]time.Duration{}, map[string]time.Duration{}
			var mu sync.Mutex
			_, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
				mu.Lock()
				started[name] = time.Since(begin)
				mu.Unlock()
				time.Sleep(durations[name] * time.Second)
				mu.Lock()
				ended[name] = time.Since(begin)
				mu.Unlock()
				return nil
			}, dag.Concurrency(2))
			require.NoError(t, err)
			assert.Less(t, started["c"], started["d"])
			assert.Greater(t, ended["c"], ended["d"])
			assert.Equal(t, 5*time.Second, time.Since(begin), "no time is lost between nodes")
		})
	})
}

// childrenIn reads the children of a node off the text form of its graph.
func childrenIn(text, name string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(text, "({", "({,"), ","+name+":[")
	children, _, _ := strings.Cut(rest, "]")
	return children
}

func TestRunDisabled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why        string
		change     func(g *dag.Graph[string])
		want       []string
		unverified map[string]string
	}{
		{"dag 16: a disabled node isn't runnable", func(g *dag.Graph[string]) { g.Disable("c") },
			[]string{"a", "b"}, map[string]string{"c": "disabled"}},
		{"dag 26, dag 27: neither called nor taken as satisfied: its dependents are unstarted too",
			func(g *dag.Graph[string]) { g.Disable("a") }, nil,
			map[string]string{"a": "disabled", "b": "waits for a (disabled)", "c": "waits for b (unstarted)"}},
		{"dag 16: enabled again it runs", func(g *dag.Graph[string]) { g.Disable("a"); g.Enable("a") },
			[]string{"a", "b", "c"}, nil},
		{"dag 16: disabled twice and enabled once it runs: it's a set",
			func(g *dag.Graph[string]) { g.Disable("a"); g.Disable("a"); g.Enable("a") }, []string{"a", "b", "c"}, nil},
		{"dag 16: unknown names do nothing", func(g *dag.Graph[string]) { g.Disable("x"); g.Enable("y"); g.Disable("") },
			[]string{"a", "b", "c"}, nil},
		{"dag 16: enabling what isn't disabled does nothing", func(g *dag.Graph[string]) { g.Enable("a") },
			[]string{"a", "b", "c"}, nil},
		{"dag 26: all of them", func(g *dag.Graph[string]) { g.Disable("a"); g.Disable("b"); g.Disable("c") }, nil,
			map[string]string{"a": "disabled", "b": "disabled", "c": "disabled"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				g := graphOf(t, []string{"a", "b", "c"}, [2]string{"b", "a"}, [2]string{"c", "b"})
				row.change(g)
				r := &recorder{}
				state, err := dag.Run(t.Context(), g, r.visit, concurrency)
				require.NoError(t, err)
				assert.Equal(t, row.want, r.order())
				assert.ElementsMatch(t, row.want, state.Verified())
				assert.Len(t, state.Unstarted(), len(row.unverified))
				for name, reason := range row.unverified {
					assert.Equal(t, reason, state.Reason(name), name)
				}
				assert.False(t, state.HasFailed())
			})
		})
	}
}

func TestRunSnapshot(t *testing.T) {
	t.Parallel()
	t.Run("dag 16: disabling and enabling counts from the next run on", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a"})
		verified := func() []string {
			state, err := dag.Run(t.Context(), g, nil)
			require.NoError(t, err)
			return state.Verified()
		}
		assert.Equal(t, []string{"a"}, verified())
		g.Disable("a")
		assert.Empty(t, verified())
		g.Enable("a")
		assert.Equal(t, []string{"a"}, verified())
	})
	t.Run("dag 22: a run works on the graph as it was when it began", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
			r := &recorder{before: func(_ context.Context, name string) {
				if name == "a" {
					assert.NoError(t, g.Add("c", "c"))
					assert.NoError(t, g.Depend("b", "c"))
					g.Disable("b")
				}
			}}
			state, err := dag.Run(t.Context(), g, r.visit, concurrency)
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b"}, state.All())
			assert.Equal(t, []string{"a", "b"}, state.Verified())

			r = &recorder{}
			state, err = dag.Run(t.Context(), g, r.visit, concurrency)
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "c"}, state.Verified(), "the next run sees the changes")
			assert.Equal(t, "disabled", state.Reason("b"))
		})
	})
	t.Run("every run starts from the beginning", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
		first, err := dag.Run(t.Context(), g, (&recorder{answers: map[string]error{"a": errBoom}}).visit)
		require.NoError(t, err)
		r := &recorder{}
		second, err := dag.Run(t.Context(), g, r.visit)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, r.order())
		assert.True(t, second.VerifyCompleted())
		assert.Equal(t, []string{"a"}, first.Failed(), "a state doesn't change")
	})
	t.Run("many runs of one graph at once, and of it from within a visit", func(t *testing.T) {
		t.Parallel()
		g := layeredDiamond(t, 20)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				var visits atomic.Int64
				state, err := dag.Run(t.Context(), g, func(ctx context.Context, name string, _ string) error {
					visits.Add(1)
					if name == "0000l" {
						inner, err := dag.Run(ctx, g, nil, dag.Concurrency(i%3))
						assert.True(t, inner.VerifyCompleted())
						return err
					}
					return nil
				}, dag.Concurrency(i%4))
				assert.NoError(t, err)
				assert.Len(t, state.Verified(), 40)
				assert.EqualValues(t, 40, visits.Load())
			})
		}
		wg.Wait()
	})
}

func TestCall(t *testing.T) {
	t.Parallel()
	t.Run("dag 19: data that are functions are called, nil ones do nothing", func(t *testing.T) {
		t.Parallel()
		type key struct{}
		g := dag.New[func(context.Context) error]()
		var got any
		require.NoError(t, g.Add("a", func(ctx context.Context) error { got = ctx.Value(key{}); return nil }))
		require.NoError(t, g.Add("b", func(context.Context) error { return errBoom }))
		require.NoError(t, g.Add("c", nil))
		state, err := dag.Run(context.WithValue(t.Context(), key{}, "value"), g, dag.Call)
		require.NoError(t, err)
		assert.Equal(t, "value", got)
		assert.Equal(t, []string{"a", "c"}, state.Verified())
		assert.Equal(t, []string{"b"}, state.Failed())
	})
	t.Run("dag 19: only an error makes a node not verified; it gets its name and data", func(t *testing.T) {
		t.Parallel()
		g := dag.New[int]()
		require.NoError(t, g.Add("one", 1))
		require.NoError(t, g.Add("two", 2))
		got := map[string]int{}
		state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, data int) error {
			got[name] = data
			return nil
		}, dag.Concurrency(0))
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"one": 1, "two": 2}, got)
		assert.True(t, slices.Equal([]string{"one", "two"}, state.Verified()))
	})
}
