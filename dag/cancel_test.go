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

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("dag 22: before the start nothing is started", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			g := graphOf(t, []string{"a", "b", "off"}, [2]string{"b", "a"})
			g.Disable("off")
			r := &recorder{}
			state, err := dag.Run(ctx, g, r.visit, concurrency)
			require.ErrorIs(t, err, context.Canceled)
			assert.Empty(t, r.order())
			assert.Equal(t, []string{"a", "b", "off"}, state.Unstarted())
			assert.Equal(t, "cancelled", state.Reason("a"))
			assert.Equal(t, "waits for a (unstarted)", state.Reason("b"))
			assert.Equal(t, "disabled", state.Reason("off"))
			assert.Empty(t, state.Errors())
		})
	})
	t.Run("dag 22: during a visit nothing more is started", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{0, 1} {
			ctx, cancel := context.WithCancel(t.Context())
			g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "a"})
			r := &recorder{before: func(visiting context.Context, _ string) {
				assert.Equal(t, ctx, visiting, "a visit gets the context of the run")
				cancel()
			}}
			state, err := dag.Run(ctx, g, r.visit, dag.Concurrency(n))
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, []string{"a"}, r.order())
			assert.Equal(t, []string{"a"}, state.Verified())
			assert.Equal(t, "cancelled", state.Reason("b"))
			assert.Equal(t, "cancelled", state.Reason("c"), "it was ready")
		}
	})
	t.Run("dag 25: what is in flight is waited for, heeds the context or not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			g := graphOf(t, []string{"deaf", "heeds", "later"}, [2]string{"later", "deaf"})
			begin := time.Now()
			state, err := dag.Run(ctx, g, func(ctx context.Context, name string, _ string) error {
				if name == "deaf" {
					time.Sleep(time.Minute)
					return nil
				}
				<-ctx.Done()
				assert.Equal(t, time.Second, time.Since(begin))
				return ctx.Err()
			}, dag.Concurrency(2))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Minute, time.Since(begin))
			assert.Equal(t, []string{"deaf"}, state.Verified())
			assert.Equal(t, []string{"heeds"}, state.Failed())
			assert.ErrorIs(t, state.Err("heeds"), context.DeadlineExceeded)
			assert.Equal(t, "cancelled: the deadline passed", state.Reason("later"))
		})
	})
	t.Run("the error is that of the context, not its cause", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errBoom)
		_, err := dag.Run(ctx, graphOf(t, []string{"a"}), nil)
		assert.Equal(t, context.Canceled, err)
	})
}

func TestCancelPredicate(t *testing.T) {
	t.Parallel()
	t.Run("dag 22: during a predicate that heeds it: its error isn't one of the node", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g := graphOf(t, []string{"a", "b"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(asking context.Context) (bool, error) {
				cancel()
				<-asking.Done()
				return false, asking.Err()
			})))
			state, err := dag.Run(ctx, g, nil, concurrency)
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, []string{"a"}, state.Verified())
			assert.Equal(t, "cancelled", state.Reason("b"))
			require.NoError(t, state.Err("b"))
			assert.False(t, state.HasFailed())
		})
	})
	t.Run("dag 22: during a predicate that answers true all the same, or false, or fails otherwise", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			open   bool
			err    error
			reason string
		}{
			{true, nil, "cancelled"},
			{false, nil, "predicate false on edge to a"},
			{false, errBoom, "predicate error on edge to a: boom"},
		} {
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				never := says(true)
				g := graphOf(t, []string{"a", "b", "c"})
				require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) {
					cancel()
					return row.open, row.err
				})))
				require.NoError(t, g.Depend("b", "c", dag.When(never.ask)))
				state, err := dag.Run(ctx, g, nil, concurrency)
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, []string{"b"}, state.Unstarted())
				assert.Equal(t, row.reason, state.Reason("b"))
				assert.Empty(t, never.asked, "nothing is asked any more")
			})
		}
	})
	t.Run("dag 22: an answer that came before is no reason any more", func(t *testing.T) {
		t.Parallel()
		for _, open := range []bool{true, false} {
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					asked := 0
					g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "a"})
					require.NoError(t, g.Depend("b", "a", dag.When(func(ctx context.Context) (bool, error) {
						if asked++; asked == 1 {
							return false, nil
						}
						cancel()
						if open {
							return true, nil
						}
						return false, ctx.Err()
					})))
					state, err := dag.Run(ctx, g, func(_ context.Context, name string, _ string) error {
						if name == "c" {
							time.Sleep(time.Millisecond) // b is asked in the meantime
						}
						return nil
					}, concurrency)
					require.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, 2, asked)
					assert.Equal(t, "cancelled", state.Reason("b"))
				})
			})
		}
	})
	t.Run("the error of some other context is one of the node", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b"})
		require.NoError(t, g.Depend("b", "a", dag.When(func(ctx context.Context) (bool, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Nanosecond)
			defer cancel()
			<-ctx.Done()
			return false, ctx.Err()
		})))
		state, err := dag.Run(t.Context(), g, nil)
		require.NoError(t, err)
		assert.True(t, errors.Is(state.Err("b"), context.DeadlineExceeded))
	})
	t.Run("dag 25: one that blocks for ever, but heeds the context, ends with it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			g := graphOf(t, []string{"a", "b"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(ctx context.Context) (bool, error) {
				<-ctx.Done()
				return false, ctx.Err()
			})))
			state, err := dag.Run(ctx, g, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, "cancelled: the deadline passed", state.Reason("b"))
		})
	})
	t.Run("dag 24: a false one isn't asked again after the end of the context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
			defer cancel()
			gate := says(false)
			g := graphOf(t, []string{"a", "b", "slow"})
			require.NoError(t, g.Depend("b", "a", dag.When(gate.ask)))
			state, err := dag.Run(ctx, g, func(_ context.Context, name string, _ string) error {
				if name == "slow" {
					time.Sleep(time.Second)
				}
				return nil
			}, dag.Concurrency(2))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond}, gate.asked)
			assert.Equal(t, "predicate false on edge to a", state.Reason("b"))
		})
	})
}
