package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errWork = errors.New("the work failed")

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("the work's end is the end: it is released", func(t *testing.T) {
		t.Parallel()
		for _, want := range []error{nil, errWork} {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				r := newReplica(t, cluster, "a")
				for range 3 { // one after the other it runs again
					assert.Equal(t, want, r.Run(t.Context(), func(context.Context) error { time.Sleep(time.Minute); return want }))
					assert.Empty(t, specOf(t, cluster).holder)
				}
				assert.Equal(t, int64(3), specOf(t, cluster).transitions)
			})
		}
	})
	t.Run("spec watch 37: the lock is released last", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			first := newReplica(t, cluster, "a")
			first.windup = 10 * time.Minute
			first.start(t)
			<-first.began
			second := newReplica(t, cluster, "b").start(t)
			first.stop()
			time.Sleep(10*time.Minute - 1)
			assert.False(t, second.Leading())
			within(t, leadsAfter(t, second), 0, 1200*time.Millisecond, "")
			_ = ends(second)
			<-first.returned
		})
	})
	t.Run("a loss while the work winds up is told by Term.Lost", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a")
			ctx, stop := context.WithCancel(t.Context())
			err := r.Run(ctx, func(ctx context.Context) error {
				stop()
				assert.Equal(t, context.Canceled, context.Cause(ctx))
				r.wire.set(down, nil)
				term, ok := TermOf(context.WithoutCancel(ctx))
				assert.True(t, ok)
				<-term.Lost
				return errWork
			})
			require.ErrorIs(t, err, ErrLost)
			require.ErrorIs(t, err, errWork)
		})
	})
	t.Run("a panic of the work is the caller's, and the lock is free", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a")
			assert.PanicsWithValue(t, "out of cheese", func() {
				_ = r.Run(t.Context(), func(context.Context) error { panic("out of cheese") })
			})
			assert.Empty(t, specOf(t, cluster).holder)
		})
	})
	t.Run("spec watch 37: whoever waits for its turn is freed by the end of its context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, leaseOf(map[string]any{"holderIdentity": "x", "leaseDurationSeconds": int64(1000)}))
			r := newReplica(t, cluster, "a").start(t)
			time.Sleep(time.Minute)
			start := time.Now()
			require.NoError(t, ends(r))
			assert.Zero(t, time.Since(start))
			assert.Equal(t, "x", specOf(t, cluster).holder)
		})
	})
	t.Run("an end while the lock is being taken leaves nothing behind", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a")
			r.wire.set(nil, func(_ context.Context, verb string) error {
				if verb == "create" {
					r.stop()
				}
				return nil
			})
			r.start(t)
			require.NoError(t, <-r.returned)
			assert.Empty(t, specOf(t, cluster).holder)
			select {
			case <-r.began:
				assert.Fail(t, "the work was called")
			default:
			}
		})
	})
	t.Run("spec watch 37: a renewal that is under way when the work ends doesn't keep the lock from being released", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a").start(t)
			<-r.began
			r.wire.set(nil, func(ctx context.Context, _ string) error {
				r.wire.set(nil, nil)
				return silent(ctx, "")
			})
			time.Sleep(2*time.Second + 1) // stored, and not answered
			start := time.Now()
			require.Error(t, ends(r))
			assert.Zero(t, time.Since(start))
			assert.Equal(t, []string{"get", "create", "update", "update", "get", "update"}, r.wire.sent())
			assert.Empty(t, specOf(t, cluster).holder)
		})
	})
	t.Run("an end while the answer of the API server is awaited", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a")
			r.wire.set(nil, func(ctx context.Context, verb string) error {
				if verb == "create" && !pause(ctx, 3*time.Second) {
					return context.Cause(ctx)
				}
				return nil
			})
			r.start(t)
			time.Sleep(time.Second)
			require.NoError(t, ends(r))
			assert.Empty(t, specOf(t, cluster).holder, "what was taken for nothing is given back")
		})
	})
	t.Run("what another replica holds isn't released", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a")
			require.NoError(t, r.Run(t.Context(), func(context.Context) error { steal(t, cluster, "thief"); return nil }))
			assert.Equal(t, "thief", specOf(t, cluster).holder)
		})
	})
	t.Run("a release that fails is said, and is no error of the work", func(t *testing.T) {
		t.Parallel()
		for reason, fail := range map[string]func(context.Context, string) error{"refused": down, "never answered": silent} {
			synctest.Test(t, func(t *testing.T) {
				r := newReplica(t, newCluster(t), "a")
				start := time.Now()
				require.NoError(t, r.Run(t.Context(), func(context.Context) error { r.wire.set(fail, nil); return nil }), reason)
				within(t, time.Since(start), 0, 5*time.Second, reason)
				assert.Contains(t, r.log.String(), "the leadership wasn't released", reason)
			})
		}
	})
	t.Run("an answer that takes longer than the renew deadline is none", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a")
			slow := true
			r.wire.set(nil, func(_ context.Context, verb string) error {
				if verb == "create" && slow {
					slow = false
					time.Sleep(11 * time.Second)
				}
				return nil
			})
			r.start(t)
			<-r.began
			assert.Equal(t, []string{"get", "create", "get", "update"}, r.wire.sent(), "it is renewed before the work begins")
			_ = ends(r)
		})
	})
	t.Run("twice at once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a").start(t)
			<-r.began
			assert.EqualError(t, r.Run(t.Context(), func(context.Context) error { return nil }), "leader: Run is running already")
			_ = ends(r)
		})
	})
	t.Run("without work", func(t *testing.T) {
		t.Parallel()
		assert.EqualError(t, None().Run(t.Context(), nil), "leader: nil work")
	})
	t.Run("spec watch 36: without a lock it always leads", func(t *testing.T) {
		t.Parallel()
		none := None()
		assert.False(t, none.Leading())
		assert.Equal(t, errWork, none.Run(t.Context(), func(ctx context.Context) error {
			assert.Equal(t, t.Context(), ctx)
			assert.True(t, none.Leading())
			_, ok := TermOf(ctx)
			assert.False(t, ok)
			return errWork
		}))
		assert.Empty(t, none.Identity())
	})
}
