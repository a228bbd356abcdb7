package dag_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// answers is a predicate that gives one answer after the other, the last one over and over, and
// takes down when it was asked.
type answers struct {
	mu    sync.Mutex
	list  []bool
	err   error
	delay time.Duration
	begin time.Time
	asked []time.Duration
}

func (a *answers) ask(context.Context) (bool, error) {
	a.mu.Lock()
	at := min(len(a.asked), len(a.list)-1)
	a.asked = append(a.asked, time.Since(a.begin))
	a.mu.Unlock()
	time.Sleep(a.delay)
	if a.err != nil {
		return true, a.err
	}
	return a.list[at], nil
}

func says(list ...bool) *answers { return &answers{list: list, begin: time.Now()} }

// TestPredicates has a node b that waits for a with a predicate, and c that waits for b.
func TestPredicates(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why      string
		gate     *answers
		answer   error
		options  []dag.Option
		verified []string
		asked    int
		reason   string
		failed   bool
	}{
		{"dag 17: true: the dependent starts", says(true), nil, nil, []string{"a", "b", "c"}, 1, "", false},
		{"dag 17: false: it doesn't, which is no failure", says(false), nil, nil,
			[]string{"a"}, 1, "predicate false on edge to a", false},
		{"dag 24: false with nothing in flight ends the run: it isn't asked again", says(false, true), nil, nil,
			[]string{"a"}, 1, "predicate false on edge to a", false},
		{"dag 17: not asked when the child failed", says(true), errBoom, nil, nil, 0, "waits for a (failed)", true},
		{"dag 17: not asked when the child is unverified", says(true), dag.Unverified(nil), nil, nil, 0, "waits for a (unverified)", false},
		{"dag 17: without predicates it isn't asked", says(false), nil,
			[]dag.Option{dag.WithoutPredicates()}, []string{"a", "b", "c"}, 0, "", false},
		{"dag 17: without predicates a failed child blocks all the same", says(true), errBoom,
			[]dag.Option{dag.WithoutPredicates()}, nil, 0, "waits for a (failed)", true},
		{"dag 18: an error is one of the dependent, whatever the answer", &answers{err: errBoom, list: []bool{true}}, nil, nil,
			[]string{"a"}, 1, "predicate error on edge to a: boom", true},
		{"dag 33: an expected error of a predicate doesn't fail the run", &answers{err: dag.Expected(errBoom), list: []bool{true}}, nil, nil,
			[]string{"a"}, 1, "predicate error on edge to a: boom", false},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				gate := &answers{list: row.gate.list, err: row.gate.err}
				g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "b"})
				require.NoError(t, g.Depend("b", "a", dag.When(gate.ask)))
				r := &recorder{answers: map[string]error{"a": row.answer}}
				state, err := dag.Run(t.Context(), g, r.visit, append(row.options, concurrency)...)
				require.NoError(t, err)
				assert.ElementsMatch(t, row.verified, state.Verified())
				assert.Equal(t, row.reason, state.Reason("b"))
				assert.Len(t, gate.asked, row.asked)
				assert.Equal(t, row.failed, state.HasFailed())
				if row.gate.err != nil {
					assert.Equal(t, []string{"b", "c"}, state.Unstarted())
					assert.Equal(t, row.gate.err, state.Err("b"))
					assert.ErrorIs(t, state.Headline(), errBoom)
				}
			})
		})
	}
}

func TestPredicatesOfSeveralEdges(t *testing.T) {
	t.Parallel()
	t.Run("dag 17: two dependents of one node, each with its own", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"a", "yes", "no"})
			require.NoError(t, g.Depend("yes", "a", dag.When(says(true).ask)))
			require.NoError(t, g.Depend("no", "a", dag.When(says(false).ask)))
			state, err := dag.Run(t.Context(), g, nil, concurrency)
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "yes"}, state.Verified())
			assert.Equal(t, []string{"no"}, state.Unstarted())
		})
	})
	t.Run("dag 18: asked in order, up to the first that isn't true; true is remembered", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			synctest.Test(t, func(t *testing.T) {
				first, second, third := says(true), says(false, true), says(false)
				g := graphOf(t, []string{"a", "b", "c", "d", "later"}, [2]string{"later", "a"})
				require.NoError(t, g.Depend("d", "c", dag.When(first.ask)))
				require.NoError(t, g.Depend("d", "a", dag.When(second.ask)))
				require.NoError(t, g.Depend("d", "b", dag.When(third.ask)))
				state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
					if name == "later" {
						time.Sleep(time.Millisecond)
					}
					return nil
				}, concurrency)
				require.NoError(t, err)
				// Asked when a, b and c were verified, and again after later, the last one.
				assert.Len(t, first.asked, 1)
				assert.Len(t, second.asked, 2)
				assert.Len(t, third.asked, 1)
				assert.Equal(t, "predicate false on edge to b", state.Reason("d"))
			})
		})
	})
	t.Run("dag 18: none is asked before all children are verified", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			gate := says(true)
			g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "b"})
			require.NoError(t, g.Depend("c", "a", dag.When(gate.ask)))
			r := &recorder{answers: map[string]error{"b": errBoom}}
			state, err := dag.Run(t.Context(), g, r.visit, concurrency)
			require.NoError(t, err)
			assert.Empty(t, gate.asked)
			assert.Equal(t, "waits for b (failed)", state.Reason("c"))
		})
	})
	t.Run("dag 22, dag 28: those of a set are asked before its nodes start, which do so by name", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{0, 1} {
			r := &recorder{}
			g := graphOf(t, []string{"root", "a", "b", "c", "d"}, [2]string{"a", "root"}, [2]string{"c", "root"})
			for _, gated := range []string{"d", "b"} {
				require.NoError(t, g.Depend(gated, "root", dag.When(func(context.Context) (bool, error) {
					assert.Equal(t, []string{"root"}, r.order(), gated)
					return true, nil
				})))
			}
			_, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(n))
			require.NoError(t, err)
			assert.Equal(t, []string{"root", "a", "b", "c", "d"}, r.order())
		}
	})
}

// TestPredicatesInTime runs a, then b once its predicate on a is true, and beside them a slow
// node that keeps the run in flight.
func TestPredicatesInTime(t *testing.T) {
	t.Parallel()
	const poll = dag.DefaultPollInterval
	for _, row := range []struct {
		why     string
		gate    []bool
		delay   time.Duration
		slow    time.Duration
		options []dag.Option
		asked   []time.Duration
		reached bool
		end     time.Duration
	}{
		{"dag 24, dag 14: every 50 ms while something is in flight, and once after the last", []bool{false}, 0, 220 * time.Millisecond, nil,
			[]time.Duration{0, poll, 2 * poll, 3 * poll, 4 * poll, 220 * time.Millisecond}, false, 220 * time.Millisecond},
		{"dag 24: the interval can be chosen", []bool{false}, 0, 220 * time.Millisecond, []dag.Option{dag.PollInterval(100 * time.Millisecond)},
			[]time.Duration{0, 2 * poll, 4 * poll, 220 * time.Millisecond}, false, 220 * time.Millisecond},
		{"dag 24: no more once it is true", []bool{false, false, true}, 0, 220 * time.Millisecond, nil,
			[]time.Duration{0, poll, 2 * poll}, true, 220 * time.Millisecond},
		{"dag 24: true at last, after the last completion", []bool{false, true}, 0, 20 * time.Millisecond, nil,
			[]time.Duration{0, 20 * time.Millisecond}, true, 20 * time.Millisecond},
		{"dag 23: a slow one, asked before the last completion, is asked once more after it", []bool{false, true}, time.Second, 500 * time.Millisecond, nil,
			[]time.Duration{0, time.Second}, true, 2 * time.Second},
		{"dag 23: a slow one that answers while a slow node is in flight", []bool{false, true}, 300 * time.Millisecond, 500 * time.Millisecond, nil,
			[]time.Duration{0, 350 * time.Millisecond}, true, 650 * time.Millisecond},
		{"dag 24: the period begins with the answer", []bool{false}, 100 * time.Millisecond, 400 * time.Millisecond, nil,
			[]time.Duration{0, 150 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond}, false, 500 * time.Millisecond},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := says(row.gate...)
				gate.delay = row.delay
				g := graphOf(t, []string{"a", "b", "slow"})
				require.NoError(t, g.Depend("b", "a", dag.When(gate.ask)))
				begin := time.Now()
				state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
					if name == "slow" {
						time.Sleep(row.slow)
					}
					return nil
				}, append(row.options, dag.Concurrency(4))...)
				require.NoError(t, err)
				assert.Equal(t, row.asked, gate.asked)
				assert.Equal(t, row.reached, state.VerifyCompleted())
				assert.Equal(t, row.end, time.Since(begin))
			})
		})
	}
	t.Run("dag 24: inline nothing is in flight: asked again only when nothing else is left", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			gate := says(false)
			g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"c", "a"}, [2]string{"d", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(gate.ask)))
			_, err := dag.Run(t.Context(), g, func(context.Context, string, string) error {
				time.Sleep(time.Second)
				return nil
			}, dag.Concurrency(0))
			require.NoError(t, err)
			assert.Equal(t, []time.Duration{time.Second, 3 * time.Second}, gate.asked)
		})
	})
	t.Run("dag 24: each has a period of its own", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			quick, slow := says(false), says(false)
			slow.delay = 30 * time.Millisecond
			g := graphOf(t, []string{"a", "b", "c", "slow"})
			require.NoError(t, g.Depend("b", "a", dag.When(quick.ask)))
			require.NoError(t, g.Depend("c", "a", dag.When(slow.ask)))
			_, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
				if name == "slow" {
					time.Sleep(170 * time.Millisecond)
				}
				return nil
			}, dag.Concurrency(4))
			require.NoError(t, err)
			ms := time.Millisecond
			assert.Equal(t, []time.Duration{0, 50 * ms, 100 * ms, 150 * ms, 190 * ms}, quick.asked)
			assert.Equal(t, []time.Duration{0, 80 * ms, 160 * ms, 190 * ms}, slow.asked)
		})
	})
	t.Run("dag 18: a slow one delays nothing else", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			gate := says(true)
			gate.delay = time.Minute
			g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"c", "a"}, [2]string{"d", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(gate.ask)))
			begin := time.Now()
			started := map[string]time.Duration{}
			var mu sync.Mutex
			_, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
				mu.Lock()
				started[name] = time.Since(begin)
				mu.Unlock()
				time.Sleep(time.Second)
				return nil
			}, dag.Concurrency(2))
			require.NoError(t, err)
			assert.Equal(t, map[string]time.Duration{
				"a": 0, "c": time.Second, "d": 2 * time.Second, "b": time.Minute + time.Second,
			}, started)
		})
	})
	t.Run("dag 24: two false ones don't keep each other in flight", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			one, two := says(false), says(false)
			one.delay, two.delay = time.Second, 3*time.Second
			g := graphOf(t, []string{"a", "b", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(one.ask)))
			require.NoError(t, g.Depend("c", "a", dag.When(two.ask)))
			begin := time.Now()
			_, err := dag.Run(t.Context(), g, nil, dag.Concurrency(2))
			require.NoError(t, err)
			assert.Equal(t, 3*time.Second, time.Since(begin))
			assert.Len(t, one.asked, 1)
			assert.Len(t, two.asked, 1)
		})
	})
	t.Run("dag 24: one that turns true lets the others be asked again after its node", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			var opened atomic.Bool
			g := graphOf(t, []string{"a", "b", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) { return opened.Load(), nil })))
			require.NoError(t, g.Depend("c", "a", dag.When(says(true).ask)))
			r := &recorder{before: func(_ context.Context, name string) {
				if name == "c" {
					opened.Store(true)
				}
			}}
			state, err := dag.Run(t.Context(), g, r.visit, concurrency)
			require.NoError(t, err)
			assert.True(t, state.VerifyCompleted(), "%s %s", state, state.Reason("b"))
		})
	})
	t.Run("dag 22: as many as there are, each asked once when true", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := dag.New[int]()
			require.NoError(t, g.Add("root", 0))
			gates := make([]*answers, 200)
			for i := range gates {
				gates[i] = says(true)
				name := fmt.Sprint("n", i)
				require.NoError(t, g.Add(name, i))
				require.NoError(t, g.Depend(name, "root", dag.When(gates[i].ask)))
			}
			state, err := dag.Run(t.Context(), g, nil, concurrency)
			require.NoError(t, err)
			assert.Len(t, state.Verified(), 201)
			for _, gate := range gates {
				assert.Len(t, gate.asked, 1)
			}
		})
	})
}
