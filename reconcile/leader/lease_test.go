package leader

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLeaseIsTakenRenewedAndReleased(t *testing.T) {
	t.Parallel()
	t.Run("spec watch 34: what a holder writes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t)
			r := newReplica(t, cluster, "a").start(t)
			assert.Zero(t, leadsAfter(t, r), "a Lease that doesn't exist is made at once")
			assert.Equal(t, []string{"get", "create"}, r.wire.sent())
			first := specOf(t, cluster)
			now := microTime(time.Now())
			assert.Equal(t, record{holder: r.Identity(), duration: 15 * time.Second, acquired: now, renewed: now, transitions: 1}, first)
			assert.Equal(t, Term{Holder: r.Identity(), Number: 1, Lost: r.term.Lost}, r.term)
			assert.True(t, r.Leading())

			time.Sleep(7 * time.Second)
			assert.Equal(t, []string{"update", "update", "update"}, r.wire.sent(), "a renewal is one call")
			renewed := specOf(t, cluster)
			assert.Equal(t, first.acquired, renewed.acquired, "acquireTime is kept")
			assert.Equal(t, int64(1), renewed.transitions)
			assert.Equal(t, microTime(time.Now().Add(-time.Second)), renewed.renewed)

			assert.ErrorIs(t, ends(r), context.Canceled, "the error of the work")
			assert.Equal(t, []string{"update"}, r.wire.sent())
			free := specOf(t, cluster)
			assert.Empty(t, free.holder, "spec watch mistake 6: it is released")
			assert.Equal(t, time.Second, free.duration)
			assert.False(t, r.Leading())
			assert.Equal(t, []string{`level=INFO msg="this replica leads"`, `level=INFO msg="the leadership was released"`}, r.lines())
		})
	})
	for _, row := range []struct {
		reason      string
		spec        map[string]any
		least, most time.Duration
		transitions int64
	}{
		{"spec watch 34: nobody holds it", map[string]any{"leaseTransitions": int64(4)}, 0, 0, 5},
		{"a holder that is empty", map[string]any{"holderIdentity": "", "leaseTransitions": int64(4)}, 0, 0, 5},
		{"no spec at all", nil, 0, 0, 1},
		{"spec watch 34: held, for as long as its own duration", map[string]any{"holderIdentity": "x", "leaseDurationSeconds": int64(30), "renewTime": "2000-01-01T00:00:00.000000Z", "leaseTransitions": int64(7)}, 30 * time.Second, 31 * time.Second, 8},
		{"held by a clock of the future", map[string]any{"holderIdentity": "x", "leaseDurationSeconds": int64(3), "renewTime": "2999-01-01T00:00:00.000000Z"}, 3 * time.Second, 4 * time.Second, 1},
		{"held for no time that is said: ours counts", map[string]any{"holderIdentity": "x"}, 15 * time.Second, 16 * time.Second, 1},
		{"as many transitions as can be written", map[string]any{"leaseTransitions": int64(2147483647)}, 0, 0, 1},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t, leaseOf(row.spec))
				r := newReplica(t, cluster, "a").start(t)
				within(t, leadsAfter(t, r), row.least, row.most, "")
				got := specOf(t, cluster)
				assert.Equal(t, r.Identity(), got.holder)
				assert.Equal(t, row.transitions, got.transitions)
				assert.Equal(t, row.transitions, r.term.Number)
				obj, err := cluster.Port().Get(t.Context(), leaseRef)
				require.NoError(t, err)
				assert.Equal(t, map[string]string{"team": "blue"}, obj.GetLabels(), "what others wrote stays")
				assert.Empty(t, obj.GetOwnerReferences())
				_ = ends(r)
			})
		})
	}
}

func TestHandOver(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		// fail ends the leadership of the first replica.
		fail        func(first *replica)
		least, most time.Duration
	}{
		{"spec watch mistake 6: a clean exit hands over at once", func(first *replica) { first.stop() }, 0, 1200 * time.Millisecond},
		{"a holder that dies is followed when its Lease has run out", func(first *replica) { first.wire.set(down, nil) }, 13 * time.Second, 16200 * time.Millisecond},
		{"a holder whose calls are never answered", func(first *replica) { first.wire.set(silent, nil) }, 13 * time.Second, 16200 * time.Millisecond},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				first := newReplica(t, cluster, "a").start(t)
				<-first.began
				second := newReplica(t, cluster, "b").start(t)
				time.Sleep(time.Minute)
				require.False(t, second.Leading())
				row.fail(first)
				took := leadsAfter(t, second)
				within(t, took, row.least, row.most, "")
				require.Error(t, <-first.returned)
				assert.False(t, first.until.After(second.since), "spec watch mistake 4: the first had ended before the second began")
				assert.Equal(t, int64(2), second.term.Number)
				_ = ends(second)
			})
		})
	}
}

func TestLoss(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason      string
		fail        func(t *testing.T, cluster deploy.Cluster, r *replica)
		least, most time.Duration
		want        string
	}{
		{"spec watch mistake 4: an error of each renewal ends it at the renew deadline", func(_ *testing.T, _ deploy.Cluster, r *replica) { r.wire.set(down, nil) },
			10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: connection refused"},
		{"no answer ends it at the same time", func(_ *testing.T, _ deploy.Cluster, r *replica) { r.wire.set(silent, nil) },
			10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: context deadline exceeded"},
		{"answers that are lost, so that nothing says that it was renewed", func(_ *testing.T, _ deploy.Cluster, r *replica) { r.wire.set(nil, down) },
			10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: connection refused"},
		{"spec watch mistake 4: a panic in each renewal steps down", func(_ *testing.T, _ deploy.Cluster, r *replica) {
			r.wire.set(func(context.Context, string) error { panic("out of cheese") }, nil)
		}, 10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: panic: out of cheese"},
		{"spec watch mistake 5: another holder is seen, and left in peace", func(t *testing.T, cluster deploy.Cluster, _ *replica) { steal(t, cluster, "thief") },
			2 * time.Second, 2 * time.Second, "leadership lost: thief leads"},
		{"somebody released it", func(t *testing.T, cluster deploy.Cluster, _ *replica) { steal(t, cluster, "") },
			2 * time.Second, 2 * time.Second, "leadership lost: the lock was taken away"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				r := newReplica(t, cluster, "a").start(t)
				<-r.began
				time.Sleep(4 * time.Second) // the second renewal is now
				synctest.Wait()
				row.fail(t, cluster, r)
				start := time.Now()
				before := specOf(t, cluster)
				err := <-r.returned
				within(t, time.Since(start), row.least, row.most, "")
				require.ErrorIs(t, err, ErrLost)
				assert.ErrorContains(t, err, "Lease shop/op: "+row.want)
				assert.ErrorIs(t, r.lost, ErrLost, "the cause of the end of the work's context")
				select {
				case <-r.term.Lost:
				default:
					assert.Fail(t, "Term.Lost isn't closed")
				}
				if before.holder != r.Identity() {
					assert.Equal(t, before, specOf(t, cluster), "nothing was written over another holder")
				}
				assert.Contains(t, r.log.String(), "this replica has lost the leadership")
			})
		})
	}
}

func TestDeadlineCountsFromTheSending(t *testing.T) {
	t.Parallel()
	t.Run("spec watch mistake 4: a renewal that was answered late", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a").start(t)
			<-r.began
			r.wire.set(nil, func(ctx context.Context, _ string) error {
				pause(ctx, 4*time.Second)
				r.wire.set(down, nil)
				return nil
			})
			require.ErrorIs(t, <-r.returned, ErrLost)
			assert.Equal(t, 12*time.Second, r.until.Sub(r.since), "it was sent after 2 s")
		})
	})
	t.Run("taking it was answered late", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := newReplica(t, newCluster(t), "a")
			r.wire.set(nil, func(ctx context.Context, verb string) error {
				if verb == "create" {
					pause(ctx, 4*time.Second)
					r.wire.set(down, nil)
				}
				return nil
			})
			r.start(t)
			require.ErrorIs(t, <-r.returned, ErrLost)
			assert.Equal(t, 6*time.Second, r.until.Sub(r.since))
		})
	})
}

func TestTroubleThatPasses(t *testing.T) {
	t.Parallel()
	// once breaks the first call of a kind.
	once := func(verb string, err error) func(context.Context, string) error {
		broken := false
		return func(_ context.Context, called string) error {
			if called == verb && !broken {
				broken = true
				return err
			}
			return nil
		}
	}
	for _, row := range []struct {
		reason string
		set    func(t *testing.T, cluster deploy.Cluster, r *replica)
		// calls are those of the next renewal and of the one behind it.
		calls []string
	}{
		{"a renewal that fails is tried again", func(_ *testing.T, _ deploy.Cluster, r *replica) { r.wire.set(once("update", errDown), nil) }, []string{"update", "update"}},
		{"one whose answer was lost", func(_ *testing.T, _ deploy.Cluster, r *replica) { r.wire.set(nil, once("update", errDown)) }, []string{"update", "update", "get", "update"}},
		{"a panic", func(_ *testing.T, _ deploy.Cluster, r *replica) {
			panicked := false
			r.wire.set(func(context.Context, string) error {
				if !panicked {
					panicked = true
					panic("out of cheese")
				}
				return nil
			}, nil)
		}, []string{"update", "update"}},
		{"somebody puts an annotation on it", func(t *testing.T, cluster deploy.Cluster, _ *replica) {
			obj, err := cluster.Port().Get(t.Context(), leaseRef)
			require.NoError(t, err)
			obj.SetAnnotations(map[string]string{"a": "b"})
			_, err = cluster.Port().Update(t.Context(), obj, deploy.UpdateOptions{FieldManager: "test"})
			require.NoError(t, err)
		}, []string{"update", "get", "update", "update"}},
		{"somebody deletes it", func(t *testing.T, cluster deploy.Cluster, _ *replica) {
			require.NoError(t, cluster.Port().Delete(t.Context(), leaseRef, deploy.DeleteOptions{}))
		}, []string{"update", "get", "create", "update"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				r := newReplica(t, cluster, "a").start(t)
				<-r.began
				first := specOf(t, cluster)
				synctest.Wait()
				r.wire.sent()
				row.set(t, cluster, r)
				time.Sleep(4 * time.Second)
				synctest.Wait()
				assert.Equal(t, row.calls, r.wire.sent())
				time.Sleep(10 * time.Minute)
				assert.True(t, r.Leading())
				got := specOf(t, cluster)
				assert.Equal(t, first.acquired, got.acquired)
				assert.Equal(t, first.transitions, got.transitions)
				_ = ends(r)
			})
		})
	}
}
