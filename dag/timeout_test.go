package dag_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestNodeTimeout(t *testing.T) {
	t.Parallel()
	heeds := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, row := range []struct {
		why   string
		visit func(ctx context.Context) error
		took  time.Duration
		end   dag.Outcome
		err   string
	}{
		{"a visit that heeds its context fails when its time is over", heeds, time.Minute, dag.OutcomeFailed,
			"timed out after 1m0s: context deadline exceeded"},
		{"one in time isn't touched", func(context.Context) error { time.Sleep(time.Second); return nil },
			time.Second, dag.OutcomeVerified, ""},
		{"one that is late but returns nil has succeeded", func(context.Context) error { time.Sleep(time.Hour); return nil },
			time.Hour, dag.OutcomeVerified, ""},
		{"another error stays what it is, late or not", func(context.Context) error { time.Sleep(time.Hour); return errBoom },
			time.Hour, dag.OutcomeFailed, "boom"},
		{"a deadline of its own is none of ours", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return heeds(ctx)
		}, time.Second, dag.OutcomeFailed, "context deadline exceeded"},
		{"dag 20: an unverified one stays unverified", func(ctx context.Context) error { return dag.Unverified(heeds(ctx)) },
			time.Minute, dag.OutcomeUnverified, "timed out after 1m0s: context deadline exceeded"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{0, 2} {
				synctest.Test(t, func(t *testing.T) {
					begin := time.Now()
					state, err := dag.Run(t.Context(), graphOf(t, []string{"a"}), func(ctx context.Context, _, _ string) error {
						return row.visit(ctx)
					}, dag.Concurrency(n), dag.NodeTimeout(time.Minute))
					require.NoError(t, err, "the run isn't over time, only its node")
					assert.Equal(t, row.took, time.Since(begin))
					end, ok := state.Outcome("a")
					assert.True(t, ok)
					assert.Equal(t, row.end, end)
					if row.err == "" {
						assert.NoError(t, state.Err("a"))
						return
					}
					assert.EqualError(t, state.Err("a"), row.err)
				})
			}
		})
	}
	t.Run("each visit has the time anew, and what waits for a late one is held back", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"b", "a"}, [2]string{"c", "b"}, [2]string{"d", "c"})
			state, err := dag.Run(t.Context(), g, func(ctx context.Context, name, _ string) error {
				if name == "c" {
					return heeds(ctx)
				}
				time.Sleep(40 * time.Second)
				return ctx.Err()
			}, dag.NodeTimeout(time.Minute))
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b"}, state.Verified())
			assert.Equal(t, "waits for c (failed)", state.Reason("d"))
			var timeout *dag.TimeoutError
			require.ErrorAs(t, state.Err("c"), &timeout)
			assert.Equal(t, time.Minute, timeout.After)
			assert.ErrorIs(t, timeout, context.DeadlineExceeded)
		})
	})
	t.Run("a predicate that blocks is cut short, also where the run has no end of its own", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{0, 2} {
			synctest.Test(t, func(t *testing.T) {
				g := graphOf(t, []string{"a", "b"})
				require.NoError(t, g.Depend("b", "a", dag.When(func(ctx context.Context) (bool, error) { return false, heeds(ctx) })))
				state, err := dag.Run(t.Context(), g, nil, dag.Concurrency(n), dag.NodeTimeout(time.Minute))
				require.NoError(t, err)
				assert.Equal(t, "predicate error on edge to a: timed out after 1m0s: context deadline exceeded", state.Reason("b"))
				var timeout *dag.TimeoutError
				assert.True(t, errors.As(state.Err("b"), &timeout))
			})
		}
	})
	t.Run("the end of the run is no timeout of its nodes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			state, err := dag.Run(ctx, graphOf(t, []string{"a"}), func(ctx context.Context, _, _ string) error { return heeds(ctx) },
				dag.NodeTimeout(time.Minute))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, context.DeadlineExceeded, state.Err("a"))
		})
	})
	t.Run("panics and Goexit under a timeout are what they are without", func(t *testing.T) {
		t.Parallel()
		for _, visit := range []func(){explode, leave} {
			state, err := dag.Run(t.Context(), graphOf(t, []string{"a"}), func(context.Context, string, string) error {
				visit()
				return nil
			}, dag.NodeTimeout(time.Minute))
			require.NoError(t, err)
			assert.Equal(t, []string{"a"}, state.Failed())
		}
	})
}
