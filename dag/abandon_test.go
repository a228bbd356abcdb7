package dag_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestAbandon(t *testing.T) {
	t.Parallel()
	t.Run("dag 25: a cancelled run leaves what doesn't return in time, and names it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			g := graphOf(t, []string{"deaf2", "deaf1", "heeds", "done", "after", "asked"}, [2]string{"after", "deaf1"})
			unblock := make(chan struct{})
			var gates atomic.Int64
			pass := func(context.Context) (bool, error) { gates.Add(1); return true, nil }
			deaf := func(context.Context) (bool, error) { gates.Add(1); <-unblock; return true, nil }
			require.NoError(t, g.Depend("asked", "done", dag.When(pass)))
			require.NoError(t, g.Add("done2", ""))
			require.NoError(t, g.Depend("asked", "done2", dag.When(deaf)))
			var d diary
			begin := time.Now()
			state, err := dag.Run(ctx, g, func(ctx context.Context, name, _ string) error {
				switch name {
				case "heeds":
					<-ctx.Done()
					return ctx.Err()
				case "deaf1", "deaf2":
					<-unblock
					return errBoom
				}
				return nil
			}, dag.Concurrency(8), dag.Abandon(10*time.Second), dag.Observe(d.observe))
			assert.Equal(t, 70*time.Second, time.Since(begin))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var abandoned *dag.AbandonedError
			require.ErrorAs(t, err, &abandoned)
			assert.Equal(t, []string{"asked", "deaf1", "deaf2"}, abandoned.Nodes)
			require.EqualError(t, err, "run: abandoned in flight: asked, deaf1, deaf2: context deadline exceeded")
			assert.EqualValues(t, 2, gates.Load())

			check := func() {
				assert.Equal(t, []string{"done", "done2"}, state.Verified())
				assert.Equal(t, []string{"deaf1", "deaf2", "heeds"}, state.Failed())
				assert.Equal(t, []string{"after", "asked"}, state.Unstarted())
				assert.Equal(t, dag.ErrAbandoned, state.Err("deaf1"))
				assert.Len(t, state.Errors(), 3)
				assert.Equal(t, "waits for deaf1 (failed)", state.Reason("after"))
				assert.Equal(t, "cancelled: the deadline passed; abandoned during the predicate on edge to done2", state.Reason("asked"))
				assert.NoError(t, state.Err("asked"))
				assert.True(t, state.HasFailed())
			}
			check()
			last := map[string]string{}
			for _, e := range d.events {
				last[e.Name] = e.String()
			}
			assert.Equal(t, "finished deaf1: failed in 1m10s: "+dag.ErrAbandoned.Error(), last["deaf1"])
			assert.Equal(t, "blocked asked: "+state.Reason("asked"), last["asked"])
			events := len(d.events)
			close(unblock)
			synctest.Wait()
			check()
			assert.Len(t, d.events, events, "what they return later is noticed by nobody")
		})
	})
	t.Run("dag 25: one that returns in time is waited for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			state, err := dag.Run(ctx, graphOf(t, []string{"a", "b"}), func(ctx context.Context, name, _ string) error {
				<-ctx.Done()
				if name == "a" {
					time.Sleep(9 * time.Second)
				}
				return nil
			}, dag.Abandon(10*time.Second))
			assert.Equal(t, context.DeadlineExceeded, err)
			assert.Equal(t, 69*time.Second, time.Since(begin))
			assert.Equal(t, []string{"a", "b"}, state.Verified())
		})
	})
	t.Run("dag 25: a run that isn't cancelled waits as long as it takes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			state, err := dag.Run(t.Context(), graphOf(t, []string{"a"}), func(context.Context, string, string) error {
				time.Sleep(time.Hour)
				return nil
			}, dag.Abandon(time.Second))
			require.NoError(t, err)
			assert.True(t, state.VerifyCompleted())
		})
	})
	t.Run("dag 22: a predicate that blocks for ever under a cancelled context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			unblock := make(chan struct{})
			g := graphOf(t, []string{"a", "b"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) {
				cancel()
				<-unblock
				return false, errBoom
			})))
			state, err := dag.Run(ctx, g, nil, dag.Abandon(time.Second))
			var abandoned *dag.AbandonedError
			require.ErrorAs(t, err, &abandoned)
			assert.Equal(t, []string{"b"}, abandoned.Nodes)
			assert.Equal(t, "cancelled; abandoned during the predicate on edge to a", state.Reason("b"))
			assert.False(t, state.HasFailed(), "nothing failed: the predicate has no answer")
			close(unblock)
			synctest.Wait()
			assert.Empty(t, state.Errors())
		})
	})
	t.Run("dag 25: without it a predicate that heeds nothing holds the run until it returns", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			g := graphOf(t, []string{"a", "b"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) {
				time.Sleep(time.Hour)
				return true, nil
			})))
			begin := time.Now()
			_, err := dag.Run(ctx, g, nil)
			assert.Equal(t, context.DeadlineExceeded, err)
			assert.Equal(t, time.Hour, time.Since(begin))
		})
	})
	t.Run("what is left may end in any way", func(t *testing.T) {
		t.Parallel()
		for why, end := range map[string]func() error{
			"nil": func() error { return nil }, "error": func() error { return errBoom },
			"panic": func() error { explode(); return nil }, "Goexit": func() error { leave(); return nil },
		} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				unblock := make(chan struct{})
				g := graphOf(t, []string{"a", "b", "c"})
				require.NoError(t, g.Depend("c", "b", dag.When(func(context.Context) (bool, error) {
					<-unblock
					return true, end()
				})))
				time.AfterFunc(time.Second, cancel)
				state, err := dag.Run(ctx, g, func(_ context.Context, name, _ string) error {
					if name == "b" {
						return nil
					}
					<-unblock
					return end()
				}, dag.Abandon(0), dag.NodeTimeout(time.Hour))
				require.ErrorIs(t, err, context.Canceled, why)
				text := state.String()
				close(unblock)
				synctest.Wait()
				assert.Equal(t, text, state.String(), why)
				assert.Equal(t, []string{"a"}, state.Failed(), why)
				assert.Equal(t, []string{"c"}, state.Unstarted(), why)
			})
		}
	})
	t.Run("no goroutine stays but those of what was left", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			// 1 of 8 workers blocks; the bubble ends in a deadlock if another one is left.
			ctx, cancel := context.WithCancel(t.Context())
			unblock := make(chan struct{})
			g, _ := numbered(t, 100)
			_, err := dag.Run(ctx, g, func(ctx context.Context, _ string, i int) error {
				if i == 7 {
					<-unblock
					return nil
				}
				time.Sleep(time.Second)
				if i == 50 {
					cancel()
				}
				return nil
			}, dag.Concurrency(8), dag.Abandon(time.Minute))
			require.ErrorIs(t, err, context.Canceled)
			synctest.Wait()
			assert.Len(t, bubble(), 2, "this one and the visit")
			close(unblock)
		})
	})
}

// bubble is the stacks of the goroutines in the caller's synctest bubble.
func bubble() (stacks []string) {
	text := make([]byte, 4<<20)
	all := strings.Split(string(text[:runtime.Stack(text, true)]), "\n\n")
	header, _, _ := strings.Cut(all[0], "\n")
	_, name, _ := strings.Cut(header, "synctest bubble ")
	for _, stack := range all {
		header, _, _ := strings.Cut(stack, "\n")
		if strings.HasSuffix(header, "synctest bubble "+name) && !strings.Contains(header, "synctest.Run") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// TestAbandonRace lets visits return while their run gives them up, for the race detector; that
// all of them end is for goleak.
func TestAbandonRace(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	for round := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		g := layeredDiamond(t, 4)
		var d diary
		time.AfterFunc(time.Duration(round%7)*100*time.Microsecond, cancel)
		state, err := dag.Run(ctx, g, func(context.Context, string, string) error {
			time.Sleep(time.Duration(round%11) * 50 * time.Microsecond)
			return nil
		}, dag.Concurrency(1+round%4), dag.Abandon(time.Duration(round%3)*50*time.Microsecond), dag.Observe(d.observe))
		cancel()
		assert.Len(t, state.All(), 8)
		last := map[string]dag.Event{}
		for _, e := range d.events {
			last[e.Name] = e
		}
		assert.Len(t, last, 8)
		if err != nil {
			assert.ErrorIs(t, err, context.Canceled)
		}
		left.Add(int64(len(state.Failed())))
		for _, name := range state.Failed() {
			assert.Equal(t, dag.ErrAbandoned, state.Err(name))
			assert.Equal(t, dag.OutcomeFailed, last[name].Outcome)
		}
	}
	assert.Positive(t, left.Load(), "some have to be left")
}
