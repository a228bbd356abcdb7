package dag_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// diary is an observer that takes everything down. Run returns after its last call, so that it
// needs no lock.
type diary struct{ events []dag.Event }

func (d *diary) observe(e dag.Event) { d.events = append(d.events, e) }

func (d *diary) lines() (lines []string) {
	for _, e := range d.events {
		lines = append(lines, e.String())
	}
	return lines
}

func TestObserve(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"inline": 0, "one worker": 1} {
		t.Run("every start and every end in order, and at once what is blocked, "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := graphOf(t, []string{"a", "b", "c", "d", "e", "f", "off", "g"},
					[2]string{"c", "b"}, [2]string{"d", "c"}, [2]string{"f", "e"}, [2]string{"g", "off"})
				g.Disable("off")
				var d diary
				begin := time.Now()
				state, err := dag.Run(t.Context(), g, func(_ context.Context, name, _ string) error {
					time.Sleep(time.Second)
					return map[string]error{"b": errBoom, "e": dag.Unverified(nil)}[name]
				}, dag.Concurrency(n), dag.Observe(d.observe))
				require.NoError(t, err)
				assert.Equal(t, []string{
					"blocked off: disabled",
					"blocked g: waits for off (disabled)",
					"started a", "finished a: verified in 1s",
					"started b", "finished b: failed in 1s: boom",
					"blocked c: waits for b (failed)",
					"blocked d: waits for c (unstarted)",
					"started e", "finished e: unverified in 1s: unverified",
					"blocked f: waits for e (unverified)",
				}, d.lines())
				for _, e := range d.events {
					assert.Equal(t, state.Reason(e.Name), e.Reason)
					if e.Kind == dag.EventFinished {
						end, _ := state.Outcome(e.Name)
						assert.Equal(t, end, e.Outcome)
						assert.Equal(t, state.Err(e.Name), e.Err)
						assert.Equal(t, time.Second, e.Duration)
					}
				}
				assert.Equal(t, begin.Add(2*time.Second), d.events[5].Time)
			})
		})
	}
	t.Run("a predicate that answers false is a wait, told once, whatever comes of it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := graphOf(t, []string{"a", "b", "c", "d", "slow"}, [2]string{"d", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(says(false, false, false, true).ask)))
			require.NoError(t, g.Depend("c", "a", dag.When(says(false).ask)))
			var d diary
			_, err := dag.Run(t.Context(), g, func(_ context.Context, name, _ string) error {
				if name == "slow" {
					time.Sleep(time.Second)
				}
				return nil
			}, dag.Concurrency(8), dag.Observe(d.observe))
			require.NoError(t, err)
			told := map[string][]string{}
			for _, e := range d.events {
				told[e.Name] = append(told[e.Name], fmt.Sprint(e.Kind, " ", e.Reason))
			}
			assert.Equal(t, []string{"waiting predicate false on edge to a", "started ", "finished "}, told["b"])
			assert.Equal(t, []string{"waiting predicate false on edge to a", "blocked predicate false on edge to a"}, told["c"])
			assert.Equal(t, []string{"blocked waits for c (unstarted)"}, told["d"])
		})
	})
	t.Run("an error of a predicate blocks, and says so", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "b"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) { return false, errBoom })))
			var d diary
			_, err := dag.Run(t.Context(), g, nil, concurrency, dag.Observe(d.observe))
			require.NoError(t, err)
			require.Len(t, d.events, 4)
			assert.Equal(t, errBoom, d.events[2].Err)
			assert.Equal(t, "blocked b: predicate error on edge to a: boom", d.events[2].String())
			assert.Equal(t, "blocked c: waits for b (unstarted)", d.events[3].String())
		})
	})
	t.Run("what a stopped or cancelled run left is blocked at its end", func(t *testing.T) {
		t.Parallel()
		for why, stop := range map[string]dag.Option{"cancelled": nil, "stopped after the error of a": dag.FailFast()} {
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				g := graphOf(t, []string{"a", "b", "c"}, [2]string{"b", "a"}, [2]string{"c", "b"})
				require.NoError(t, g.Add("d", ""))
				require.NoError(t, g.Depend("a", "d"))
				var d diary
				_, err := dag.Run(ctx, g, func(_ context.Context, name, _ string) error {
					if name == "d" && stop == nil {
						cancel()
					}
					if name == "a" {
						return errBoom
					}
					return nil
				}, concurrency, stop, dag.Observe(d.observe))
				assert.Equal(t, stop == nil, err != nil)
				last := d.events[len(d.events)-1]
				assert.Equal(t, dag.EventBlocked, last.Kind)
				assert.Equal(t, "waits for b (unstarted)", last.Reason)
				if stop == nil {
					assert.Equal(t, "blocked a: "+why, d.events[2].String())
				}
			})
		}
	})
	t.Run("all calls come from one goroutine, which visits nothing; inline it is the caller's", func(t *testing.T) {
		t.Parallel()
		for name, n := range concurrencies {
			calls, visits := map[string]bool{}, sync.Map{}
			_, err := dag.Run(t.Context(), layeredDiamond(t, 30), func(context.Context, string, string) error {
				visits.Store(goroutine(), true)
				return nil
			}, dag.Concurrency(n), dag.Observe(func(dag.Event) { calls[goroutine()] = true }))
			require.NoError(t, err)
			assert.Len(t, calls, 1, name)
			for caller := range calls {
				_, visited := visits.Load(caller)
				assert.Equal(t, n == 0, visited, name)
				assert.Equal(t, n == 0, caller == goroutine(), name)
			}
		}
	})
	t.Run("an observer may change the graph and run it", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
			state, err := dag.Run(t.Context(), g, nil, concurrency, dag.Observe(func(e dag.Event) {
				g.Remove(e.Name)
				_, err := dag.Run(context.WithoutCancel(t.Context()), g, nil, concurrency)
				assert.NoError(t, err)
			}))
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b"}, state.Verified())
		})
	})
	t.Run("nil is none, and an empty graph has nothing to tell", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			_, err := dag.Run(t.Context(), graphOf(t, []string{"a"}), nil, concurrency, dag.Observe(nil))
			require.NoError(t, err)
			var d diary
			_, err = dag.Run(t.Context(), dag.New[int](), nil, concurrency, dag.Observe(d.observe))
			require.NoError(t, err)
			assert.Empty(t, d.events)
		})
	})
}

func TestObserveSlow(t *testing.T) {
	t.Parallel()
	t.Run("a slow observer doesn't slow the run; it loses starts, and no end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			const n = 5000
			g, names := numbered(t, n)
			for i := range n / 2 {
				require.NoError(t, g.Depend(names[2*i+1], names[2*i]))
			}
			var overAt time.Duration
			var visits atomic.Int64
			begin := time.Now()
			last, starts := map[string]dag.Event{}, 0
			state, err := dag.Run(t.Context(), g, func(_ context.Context, _ string, i int) error {
				time.Sleep(time.Millisecond)
				if visits.Add(1) == n-n/5/2 {
					overAt = time.Since(begin)
				}
				if i%10 == 0 {
					return errBoom
				}
				return nil
			}, dag.Concurrency(8), dag.Observe(func(e dag.Event) {
				time.Sleep(time.Second)
				last[e.Name] = e
				if e.Kind == dag.EventStarted {
					starts++
				}
			}))
			require.NoError(t, err)
			assert.Less(t, overAt, time.Second, "as long as without an observer")
			assert.Len(t, last, n)
			for name, e := range last {
				end, _ := state.Outcome(name)
				assert.Equal(t, end, e.Outcome)
				assert.Equal(t, state.Reason(name), e.Reason)
			}
			assert.Less(t, starts, 1100, "more than the buffer aren't kept")
			assert.Greater(t, starts, 400)
		})
	})
	t.Run("one that blocks doesn't hold the run for ever: its end is said, and nothing is called after", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			unblock := make(chan struct{})
			var calls atomic.Int64
			begin := time.Now()
			state, err := dag.Run(t.Context(), layeredDiamond(t, 5), nil, dag.Observe(func(dag.Event) {
				if calls.Add(1) == 3 {
					<-unblock
				}
			}))
			assert.Equal(t, dag.ObserverPatience, time.Since(begin))
			require.ErrorIs(t, err, dag.ErrObserverBlocked)
			var observer *dag.ObserverError
			require.ErrorAs(t, err, &observer)
			assert.Equal(t, 18, observer.Undelivered, "of twenty, two were taken")
			require.EqualError(t, err, "run: observer: blocked for 5s after the end of the run: 18 events weren't delivered")
			assert.True(t, state.VerifyCompleted())
			close(unblock)
			synctest.Wait()
			assert.EqualValues(t, 3, calls.Load())
		})
	})
	t.Run("one that is slow, but goes on, is waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin, calls := time.Now(), 0
			_, err := dag.Run(t.Context(), layeredDiamond(t, 5), nil, dag.Observe(func(dag.Event) {
				time.Sleep(dag.ObserverPatience - time.Millisecond)
				calls++
			}))
			require.NoError(t, err)
			assert.Equal(t, 20, calls)
			assert.Equal(t, 20*(dag.ObserverPatience-time.Millisecond), time.Since(begin))
		})
	})
	t.Run("one that blocks while the run is cancelled: both are said", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			unblock := make(chan struct{})
			_, err := dag.Run(ctx, graphOf(t, []string{"a"}), func(ctx context.Context, _, _ string) error {
				<-ctx.Done()
				return nil
			}, dag.Observe(func(dag.Event) { <-unblock }))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, dag.ErrObserverBlocked)
			close(unblock)
		})
	})
	t.Run("a context that ends while the observer catches up was no reason for anything", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ran := make(chan struct{})
		_, err := dag.Run(ctx, graphOf(t, []string{"a"}), nil, dag.Concurrency(1), dag.Observe(func(e dag.Event) {
			if e.Kind == dag.EventFinished {
				time.Sleep(20 * time.Millisecond) // the run is over by now
				cancel()
				close(ran)
			}
		}))
		<-ran
		assert.NoError(t, err)
	})
}

func TestObserverFails(t *testing.T) {
	t.Parallel()
	t.Run("a panic ends the observation, not the run", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			calls := 0
			state, err := dag.Run(t.Context(), layeredDiamond(t, 5), nil, concurrency, dag.Observe(func(dag.Event) {
				calls++
				explode()
			}))
			assert.True(t, state.VerifyCompleted())
			assert.Equal(t, 1, calls)
			require.ErrorIs(t, err, errBoom)
			var caught *dag.PanicError
			require.ErrorAs(t, err, &caught)
			assert.Contains(t, string(caught.Stack), "dag_test.explode")
		})
	})
	t.Run("so does Goexit, where the goroutine isn't the caller's", func(t *testing.T) {
		t.Parallel()
		state, err := dag.Run(t.Context(), layeredDiamond(t, 5), nil, dag.Observe(func(dag.Event) { leave() }))
		assert.True(t, state.VerifyCompleted())
		var caught *dag.GoexitError
		require.ErrorAs(t, err, &caught)
		assert.Contains(t, string(caught.Stack), "dag_test.leave")
	})
	t.Run("inline, a visit that ends the caller's goroutine is told", func(t *testing.T) {
		t.Parallel()
		g := dag.New[int]()
		require.NoError(t, g.Add("a", 0))
		var events []dag.Event
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = dag.Run(t.Context(), g, func(context.Context, string, int) error { runtime.Goexit(); return nil },
				dag.Concurrency(0), dag.Observe(func(e dag.Event) { events = append(events, e) }))
		}()
		<-ended
		require.Len(t, events, 2)
		assert.Equal(t, dag.EventFinished, events[1].Kind)
		var caught *dag.GoexitError
		assert.ErrorAs(t, events[1].Err, &caught)
	})
	t.Run("inline, Goexit of the observer ends the caller, and the graph can be run again", func(t *testing.T) {
		t.Parallel()
		g := layeredDiamond(t, 5)
		for _, kind := range []dag.EventKind{dag.EventStarted, dag.EventFinished} {
			returned, left, ended := false, 0, make(chan struct{})
			go func() {
				defer close(ended)
				_, err := dag.Run(t.Context(), g, nil, dag.Concurrency(0), dag.Observe(func(e dag.Event) {
					if e.Kind == kind {
						left++
						leave()
					}
				}))
				returned = errors.Is(err, nil)
			}()
			<-ended
			assert.False(t, returned)
			assert.Equal(t, 1, left, "it isn't called again")
		}
		state, err := dag.Run(t.Context(), g, nil)
		require.NoError(t, err)
		assert.True(t, state.VerifyCompleted())
	})
}
