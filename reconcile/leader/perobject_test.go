package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPerObject(t *testing.T) {
	t.Parallel()
	t.Run("watch 35: a free lock is taken, held while the Reconciler works, and released", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop())
			w := newWorker(t, cluster, "a")
			w.work = func(ctx context.Context) error {
				held := lockOf(t, cluster)
				assert.Equal(t, w.Identity(), held.holder)
				at, err := time.Parse(time.RFC3339, held.renewed)
				require.NoError(t, err)
				assert.True(t, at.Equal(time.Now()))
				assert.Equal(t, time.UTC, at.Location(), "watch mistake 8: UTC")
				term, ok := TermOf(ctx)
				assert.True(t, ok)
				assert.Equal(t, w.Identity(), term.Holder)
				return errWork
			}
			worked, result, err := w.reconciles(t)
			assert.True(t, worked)
			assert.Equal(t, errWork, err, "what the Reconciler says")
			assert.Equal(t, time.Hour, result.RequeueAfter)
			assert.Equal(t, []string{"patch", "patch"}, w.wire.sent(), "two writes and nothing else")
			obj, err := cluster.Port().Get(t.Context(), shopKey)
			require.NoError(t, err)
			assert.Equal(t, map[string]string{"team": "blue"}, obj.GetAnnotations(), "watch mistake 8: a lock taken for the first time is released, and what is others' stays")
			assert.Equal(t, map[string]any{"a": "b"}, obj.Object["data"])
		})
	})
	t.Run("watch 35: oper8 reads the time of its own domain, which has no zone there and six digits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop())
			w := newWorker(t, cluster, "a", deploy.KeyDomain("oper8.org"))
			w.work = func(context.Context) error {
				obj, err := cluster.Port().Get(t.Context(), shopKey)
				require.NoError(t, err)
				assert.Equal(t, w.Identity(), obj.GetAnnotations()["oper8.org/lease-name"])
				assert.Equal(t, "2000-01-01T00:00:00.000000", obj.GetAnnotations()["oper8.org/lease-time"])
				return nil
			}
			worked, _, err := w.reconciles(t)
			assert.True(t, worked)
			require.NoError(t, err)
		})
	})
	for _, row := range []struct {
		reason      string
		annotations []string
		least, most time.Duration
	}{
		{"watch 35: one that another replica holds is refused until it has stood still for its duration", heldBy("x", "2000-01-01T00:00:00Z"), 15 * time.Second, 16 * time.Second},
		{"by a clock that is hours behind", heldBy("x", "1999-12-31T21:00:00Z"), 15 * time.Second, 16 * time.Second},
		{"by a clock that is hours ahead", heldBy("x", "2000-01-01T03:00:00Z"), 15 * time.Second, 16 * time.Second},
		{"by a clock without a zone, as another framework writes it", heldBy("x", "2000-01-01T00:00:00.123456"), 15 * time.Second, 16 * time.Second},
		{"without a time", heldBy("x", "")[:2], 15 * time.Second, 16 * time.Second},
		{"by nobody at some time", heldBy("x", "2000-01-01T00:00:00Z")[2:], 0, 0},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t, newCluster(t, shop(row.annotations...)), "a")
				within(t, w.until(t), row.least, row.most, "")
				assert.Equal(t, []string{"patch", "patch"}, w.wire.sent(), "nothing is asked while it waits")
				assert.Empty(t, w.objects.seen, "nothing is kept of it")
				assert.NotContains(t, w.log.String(), "level=INFO")
				assert.NotContains(t, w.log.String(), "level=WARN", "to wait is no trouble")
			})
		})
	}
	t.Run("watch 35: ours since an answer was lost", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop())
			w := newWorker(t, cluster, "a")
			w.wire.set(nil, down)
			worked, _, err := w.reconciles(t)
			require.ErrorIs(t, err, errDown)
			assert.ErrorContains(t, err, "lock of ConfigMap shop/one: ")
			assert.False(t, worked)
			w.wire.set(nil, nil)
			worked, _, err = w.reconciles(t)
			require.NoError(t, err)
			assert.True(t, worked)
		})
	})
	t.Run("watch 35: what is gone is worked on without a lock", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t), "a")
			worked, result, err := w.reconciles(t)
			require.NoError(t, err)
			assert.True(t, worked)
			assert.Equal(t, time.Hour, result.RequeueAfter)
			assert.Empty(t, w.wire.sent())
		})
	})
	t.Run("and what is gone with its kind", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.glass.shows(func() (*unstructured.Unstructured, error) { return nil, errUnserved })
			worked, _, err := w.reconciles(t)
			require.NoError(t, err)
			assert.True(t, worked)
			assert.Empty(t, w.wire.sent())
		})
	})
	t.Run("another domain", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop("operkit.dev/lease-name", "x", "oper8.org/lease-name", "y"))
			w := newWorker(t, cluster, "a", deploy.KeyDomain("oper8.org"))
			worked, _, err := w.reconciles(t)
			require.NoError(t, err)
			assert.False(t, worked)
			edit(t, cluster, `{"metadata":{"annotations":{"oper8.org/lease-name":null}}}`)
			worked, _, err = w.reconciles(t)
			require.NoError(t, err)
			assert.True(t, worked)
			assert.Equal(t, "x", lockOf(t, cluster).holder)
		})
	})
}

func TestPerObjectIsWorkedOnByOne(t *testing.T) {
	t.Parallel()
	t.Run("watch mistake 8: whoever is refused has its turn, one at a time", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(20) {
			synctest.Test(t, func(t *testing.T) {
				dice := rand.New(rand.NewPCG(seed, 0))
				cluster := newCluster(t, shop())
				var working atomic.Int32
				var all sync.WaitGroup
				for i := range 5 {
					w := newWorker(t, cluster, fmt.Sprint("r", i))
					long := time.Duration(dice.IntN(7000)) * time.Millisecond
					w.work = func(context.Context) error {
						assert.Equal(t, int32(1), working.Add(1), "alone at work")
						time.Sleep(long)
						edit(t, cluster, `{"data":{"a":"`+w.Identity()+`"}}`)
						time.Sleep(time.Second)
						working.Add(-1)
						return nil
					}
					all.Go(func() {
						for range 4 {
							w.until(t)
						}
						assert.Equal(t, 4, w.calls)
						assert.NotContains(t, w.log.String(), "level=WARN")
					})
				}
				all.Wait()
				assert.Empty(t, lockOf(t, cluster))
			})
		}
	})
	t.Run("watch mistake 5: of two that want it at once one gets it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop())
			seen, err := cluster.Port().Get(t.Context(), shopKey)
			require.NoError(t, err)
			first, late := newWorker(t, cluster, "a"), newWorker(t, cluster, "b")
			late.glass.shows(func() (*unstructured.Unstructured, error) { return seen, nil }) // not yet what the first wrote
			first.work = func(context.Context) error {
				worked, result, err := late.reconciles(t)
				require.NoError(t, err)
				assert.False(t, worked)
				assert.Positive(t, result.RequeueAfter)
				assert.Equal(t, []string{"patch", "get"}, late.wire.sent(), "a conflict is a defeat")
				assert.Equal(t, first.Identity(), lockOf(t, cluster).holder)
				return nil
			}
			_, _, err = first.reconciles(t)
			require.NoError(t, err)
		})
	})
	t.Run("an object that others change all the time is left alone for a moment", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop())
			w := newWorker(t, cluster, "a")
			n := 0
			w.wire.set(func(_ context.Context, verb string) error {
				if verb == "patch" {
					n++
					edit(t, cluster, fmt.Sprintf(`{"data":{"n":"%d"}}`, n))
				}
				return nil
			}, nil)
			worked, result, err := w.reconciles(t)
			require.NoError(t, err)
			assert.False(t, worked)
			within(t, result.RequeueAfter, conflictPause, conflictPause*6/5+1, "")
			assert.Equal(t, 5, n, "as often as Change tries")
			w.wire.set(nil, nil)
			w.until(t)
		})
	})
	t.Run("watch 35: a long reconcile renews the lock, also while it changes the object itself", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			cluster := newCluster(t, shop())
			w, other := newWorker(t, cluster, "a"), newWorker(t, cluster, "b")
			ended := make(chan struct{})
			w.work = func(ctx context.Context) error {
				defer close(ended)
				time.Sleep(50 * time.Millisecond) // never at the moment of a renewal, which one of both would lose then
				for i := range 50 {
					edit(t, cluster, fmt.Sprintf(`{"data":{"i":"%d"}}`, i))
					time.Sleep(1900 * time.Millisecond)
				}
				assert.NoError(t, ctx.Err())
				return nil
			}
			other.work = func(context.Context) error {
				select {
				case <-ended:
				default:
					assert.Fail(t, "two work at once")
				}
				return nil
			}
			var both sync.WaitGroup
			both.Go(func() { _, _, err := w.reconciles(t); assert.NoError(t, err) })
			synctest.Wait()
			within(t, other.until(t), 95*time.Second, 98*time.Second, "it is free at once")
			both.Wait()
			assert.NotContains(t, w.wire.sent(), "get", "renewals know what is there")
		})
	})
}

func TestPerObjectThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		fail   func(w *worker)
		calls  []string
	}{
		{"watch mistake 3: what can't be read isn't worked on", func(w *worker) {
			w.glass.shows(func() (*unstructured.Unstructured, error) { return nil, errDown })
		}, nil},
		{"watch mistake 3: nor what can't be read after a conflict", func(w *worker) {
			w.wire.set(func(_ context.Context, verb string) error {
				if verb == "get" {
					return errDown
				}
				return &deploy.StaleError{Ref: shopKey, Err: errors.New("changed")}
			}, nil)
		}, []string{"patch", "get"}},
		{"nor what can't be written", func(w *worker) { w.wire.set(down, nil) }, []string{"patch"}},
		{"nor what never answers", func(w *worker) { w.wire.set(silent, nil) }, []string{"patch"}},
		{"nor what may not be written", func(w *worker) {
			w.wire.set(func(context.Context, string) error {
				return &deploy.ForbiddenError{Verb: "patch", Namespace: "shop", Name: "one", Err: errors.New("no")}
			}, nil)
		}, []string{"patch"}},
		{"a panic is an error", func(w *worker) {
			w.wire.set(func(context.Context, string) error { panic("out of cheese") }, nil)
		}, []string{"patch"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t, shop(heldBy("x", "")...))
				w := newWorker(t, cluster, "a")
				if !strings.Contains(row.reason, "what can't be read isn't") {
					annotate(t, cluster, "")
				}
				row.fail(w)
				start := time.Now()
				worked, _, err := w.reconciles(t)
				require.Error(t, err)
				assert.ErrorContains(t, err, "lock of ConfigMap shop/one: ")
				assert.False(t, worked)
				assert.Equal(t, row.calls, w.wire.sent())
				assert.LessOrEqual(t, time.Since(start), 5*time.Second)
				panics := row.reason == "a panic is an error"
				assert.Equal(t, panics, strings.Contains(w.log.String(), "stack="), "where it panicked is logged")
			})
		})
	}
}

func TestPerObjectLost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason      string
		fail        func(t *testing.T, w *worker)
		least, most time.Duration
		want        string
	}{
		{"watch mistake 4: what can't be renewed ends at the renew deadline", func(_ *testing.T, w *worker) { w.wire.set(down, nil) },
			10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: connection refused"},
		{"nor what never answers", func(_ *testing.T, w *worker) { w.wire.set(silent, nil) },
			10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: context deadline exceeded"},
		{"watch mistake 4: a panic in each renewal", func(_ *testing.T, w *worker) {
			w.wire.set(func(context.Context, string) error { panic("out of cheese") }, nil)
		}, 10 * time.Second, 10 * time.Second, "leadership lost: the renew deadline has passed: panic: out of cheese (perobject_test.go)"},
		{"another replica is seen, and left in peace", func(t *testing.T, w *worker) { annotate(t, w.cluster, "thief") },
			2 * time.Second, 2 * time.Second, "leadership lost: thief works on it"},
		{"somebody released it", func(t *testing.T, w *worker) { annotate(t, w.cluster, "") },
			2 * time.Second, 2 * time.Second, "leadership lost: the lock was taken away"},
		{"the object is gone", func(t *testing.T, w *worker) {
			require.NoError(t, w.cluster.Port().Delete(t.Context(), shopKey, deploy.DeleteOptions{}))
		}, 2 * time.Second, 2 * time.Second, "leadership lost: the object is gone"},
		{"its kind is gone", func(_ *testing.T, w *worker) {
			w.glass.shows(func() (*unstructured.Unstructured, error) { return nil, errUnserved })
		}, 2 * time.Second, 2 * time.Second, "leadership lost: the object is gone"},
		{"the object is another one", func(t *testing.T, w *worker) {
			require.NoError(t, w.cluster.Port().Delete(t.Context(), shopKey, deploy.DeleteOptions{}))
			_, err := w.cluster.Port().Create(t.Context(), shop(), deploy.CreateOptions{})
			require.NoError(t, err)
		}, 2 * time.Second, 2 * time.Second, "leadership lost: the lock was taken away"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t, newCluster(t, shop()), "a")
				var before []*unstructured.Unstructured
				w.work = func(ctx context.Context) error {
					start := time.Now()
					row.fail(t, w)
					before = w.cluster.Objects()
					<-ctx.Done()
					within(t, time.Since(start), row.least, row.most, "")
					assert.ErrorIs(t, context.Cause(ctx), ErrLost)
					term, _ := TermOf(ctx)
					<-term.Lost
					return ctx.Err()
				}
				worked, result, err := w.reconciles(t)
				assert.True(t, worked)
				assert.Zero(t, result)
				require.ErrorIs(t, err, ErrLost)
				assert.Equal(t, "lock of ConfigMap shop/one: "+row.want, testlog.WithoutLines(err.Error()))
				assert.Equal(t, before, w.cluster.Objects(), "nothing was written any more")
			})
		})
	}
	t.Run("watch mistake 4: the deadline counts from the sending", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.wire.set(nil, func(ctx context.Context, _ string) error {
				pause(ctx, 4*time.Second)
				w.wire.set(down, nil)
				return nil
			})
			w.work = func(ctx context.Context) error {
				start := time.Now()
				<-ctx.Done()
				assert.Equal(t, 6*time.Second, time.Since(start), "taken, and answered late")
				return ctx.Err()
			}
			_, _, err := w.reconciles(t)
			require.ErrorIs(t, err, ErrLost)
		})
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(ctx context.Context) error {
				w.wire.set(nil, func(ctx context.Context, _ string) error {
					pause(ctx, 4*time.Second)
					w.wire.set(down, nil)
					return nil
				})
				start := time.Now()
				<-ctx.Done()
				assert.Equal(t, 12*time.Second, time.Since(start), "renewed after 2 s, and answered late")
				return ctx.Err()
			}
			_, _, err := w.reconciles(t)
			require.ErrorIs(t, err, ErrLost)
		})
	})
	t.Run("an error of the Reconciler is told too", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(ctx context.Context) error {
				annotate(t, w.cluster, "thief")
				<-ctx.Done()
				return errWork
			}
			_, _, err := w.reconciles(t)
			require.ErrorIs(t, err, ErrLost)
			require.ErrorIs(t, err, errWork)
		})
	})
}

func TestPerObjectReleases(t *testing.T) {
	t.Parallel()
	t.Run("also by a panic, which is the caller's", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(context.Context) error { panic("out of cheese") }
			assert.PanicsWithValue(t, "out of cheese", func() { _, _, _ = w.reconciles(t) })
			assert.Empty(t, lockOf(t, w.cluster))
		})
	})
	t.Run("also when the context has ended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			ctx, stop := context.WithCancel(t.Context())
			w.work = func(ctx context.Context) error {
				stop()
				<-ctx.Done()
				assert.Equal(t, context.Canceled, context.Cause(ctx))
				return ctx.Err()
			}
			_, err := w.Reconcile(ctx, request.Request{Key: shopKey})
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, ErrLost)
			assert.Empty(t, lockOf(t, w.cluster))
		})
	})
	t.Run("an end while the lock is being taken leaves nothing behind", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			ctx, stop := context.WithCancel(t.Context())
			w.wire.set(func(context.Context, string) error { stop(); return nil }, nil)
			_, err := w.Reconcile(ctx, request.Request{Key: shopKey})
			require.ErrorIs(t, err, context.Canceled)
			assert.Zero(t, w.calls)
			assert.Empty(t, lockOf(t, w.cluster))
		})
	})
	t.Run("an end while the answer of the API server is awaited", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.wire.set(nil, func(ctx context.Context, _ string) error {
				w.wire.set(nil, nil)
				if !pause(ctx, 3*time.Second) {
					return context.Cause(ctx)
				}
				return nil
			})
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			_, err := w.Reconcile(ctx, request.Request{Key: shopKey})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Zero(t, w.calls)
			assert.Empty(t, lockOf(t, w.cluster), "what was taken for nothing is given back")
		})
	})
	t.Run("the object as it is by then", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(context.Context) error {
				seen, err := w.cluster.Port().Get(t.Context(), shopKey)
				require.NoError(t, err)
				edit(t, w.cluster, `{"data":{"a":"c"}}`)
				w.glass.shows(func() (*unstructured.Unstructured, error) { return seen, nil }) // not yet what was edited
				return nil
			}
			_, _, err := w.reconciles(t)
			require.NoError(t, err)
			assert.Equal(t, []string{"patch", "patch", "get", "patch"}, w.wire.sent())
			assert.Empty(t, lockOf(t, w.cluster))
			obj, err := w.cluster.Port().Get(t.Context(), shopKey)
			require.NoError(t, err)
			assert.Equal(t, map[string]any{"a": "c"}, obj.Object["data"], "watch mistake 8: nothing is put back")
		})
	})
	t.Run("no object that has gone", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(context.Context) error {
				return w.cluster.Port().Delete(t.Context(), shopKey, deploy.DeleteOptions{})
			}
			_, _, err := w.reconciles(t)
			require.NoError(t, err)
			assert.Equal(t, []string{"patch"}, w.wire.sent())
			assert.NotContains(t, w.log.String(), "level=WARN")
		})
	})
	t.Run("no lock of another one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(context.Context) error { annotate(t, w.cluster, "thief"); return nil }
			_, _, err := w.reconciles(t)
			require.NoError(t, err)
			assert.Equal(t, "thief", lockOf(t, w.cluster).holder)
		})
	})
	t.Run("that it can't is said, and is no error of the reconcile", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			w.work = func(ctx context.Context) error {
				logging.Annotate(ctx, slog.String("reconcile", "7f"))
				w.wire.set(silent, nil)
				return nil
			}
			start := time.Now()
			_, _, err := w.reconciles(t)
			require.NoError(t, err)
			assert.Equal(t, 5*time.Second, time.Since(start))
			assert.Regexp(t, "the lock wasn't released.* reconcile=7f ", w.log.String())
			other := newWorker(t, w.cluster, "b")
			within(t, other.until(t), 15*time.Second, 16*time.Second, "")
		})
	})
}

func TestObjectTransport(t *testing.T) {
	t.Parallel()
	t.Run("what belongs to no reconcile passes", func(t *testing.T) {
		t.Parallel()
		below := &transport{}
		require.NoError(t, send(t.Context(), ObjectTransport(below)))
		assert.Len(t, below.sent, 1)
		assert.NotNil(t, ObjectTransport(nil).(*guard).next)
	})
	t.Run("watch mistake 6: a process that was frozen notices by its first call", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			below := &transport{}
			w.work = func(ctx context.Context) error {
				require.NoError(t, send(ctx, ObjectTransport(below)))
				w.wire.set(silent, nil)
				held, ok := ctx.Value(objectTermKey{}).(*term)
				require.True(t, ok)
				held.watchdog.Stop() // timers of a frozen process don't fire, and nothing is renewed
				time.Sleep(10*time.Second - 1)
				require.NoError(t, send(ctx, ObjectTransport(below)), "a nanosecond before")
				time.Sleep(time.Nanosecond)
				require.NoError(t, ctx.Err())
				require.ErrorIs(t, send(context.WithoutCancel(ctx), ObjectTransport(below)), ErrNotLeading)
				return nil
			}
			_, _, err := w.reconciles(t)
			require.ErrorIs(t, err, ErrLost)
			assert.Len(t, below.sent, 2)
		})
	})
	t.Run("what is under way is cancelled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			hanging := ObjectTransport(&transport{answer: func(req *http.Request) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}})
			w.work = func(ctx context.Context) error {
				annotate(t, w.cluster, "thief")
				err := send(context.WithoutCancel(ctx), hanging)
				require.ErrorIs(t, err, ErrNotLeading)
				require.ErrorIs(t, err, context.Canceled)
				return nil
			}
			start := time.Now()
			_, _, err := w.reconciles(t)
			require.ErrorIs(t, err, ErrLost)
			assert.Equal(t, 2*time.Second, time.Since(start))
		})
	})
	t.Run("after the reconcile nothing leaves in its name", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorker(t, newCluster(t, shop()), "a")
			var left context.Context
			w.work = func(ctx context.Context) error { left = context.WithoutCancel(ctx); return nil }
			_, _, err := w.reconciles(t)
			require.NoError(t, err)
			require.ErrorIs(t, send(left, ObjectTransport(&transport{})), ErrNotLeading)
		})
	})
}

// declared is a Reconciler with all that an engine asks for.
type declared struct {
	working
	observed *[]deploy.Event
}

func (declared) Sources() source.Sources      { return source.Sources{When: filter.Never()} }
func (d declared) Observe(event deploy.Event) { *d.observed = append(*d.observed, event) }
func (d declared) Forget(deploy.Ref)          { *d.observed = nil }

// misdeclared has a method that only looks like it.
type misdeclared struct{ working }

func (misdeclared) Sources() string { return "" }

func TestPerObjectPassesOn(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	w := newWorker(t, cluster, "a")
	w.Observe(deploy.Event{})
	w.Forget(deploy.Ref{})
	assert.Nil(t, w.Sources().When, "of one that declares nothing")
	var observed []deploy.Event
	lock, err := PerObject(declared{working{w}, &observed}, newManager(t, cluster))
	require.NoError(t, err)
	assert.NotNil(t, lock.Sources().When)
	lock.Observe(deploy.Event{Type: deploy.Added})
	assert.Len(t, observed, 1)
	lock.Forget(deploy.Ref{})
	assert.Empty(t, observed)
}

func TestPerObjectForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t, newCluster(t, shop(heldBy("x", "2000-01-01T00:00:00Z")...)), "a")
		worked, _, err := w.reconciles(t)
		require.NoError(t, err)
		require.False(t, worked)
		assert.Contains(t, w.objects.seen, shopKey)
		w.Forget(shopKey)
		assert.Empty(t, w.objects.seen, "of an object that is gone")
	})
}

// undivided says why it needs a leader, and misspelled does it in a wrong way.
type undivided struct {
	Reconciler
	why error
}

func (u undivided) NeedsLeader() error { return u.why }

type misspelled struct{ Reconciler }

func (misspelled) NeedsLeader() bool { return true }

func TestUndivided(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	_, err := PerObject(undivided{newWorker(t, cluster, "a"), nil}, newManager(t, cluster))
	assert.NoError(t, err, "handlers 59: one that needs no leader isn't refused")
}

func TestPerObjectMistakes(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	w, manager := newWorker(t, cluster, "a"), newManager(t, cluster)
	for _, row := range []struct {
		reason  string
		next    Reconciler
		manager *deploy.Manager
		opts    []Option
		want    string
	}{
		{"no reconciler", nil, manager, nil, "lock per object: nil reconciler"},
		{"no manager", w, nil, nil, "lock per object: nil manager"},
		{"watch mistake 25: a negative retry period", w, manager, []Option{Timing(0, 0, -1)}, "lock per object: retry period: -1ns: it must be positive"},
		{"handlers 59: it has daemons", undivided{w, errors.New("the daemon measure runs between reconciles")}, manager, nil,
			"lock per object: the daemon measure runs between reconciles: use one lock for all objects, such as a Lease"},
		{"a NeedsLeader that is none", misspelled{w}, manager, nil, "its method NeedsLeader is () bool: make it () error"},
		{"Sources that are none", misdeclared{working{w}}, manager, nil, "its method Sources is () string: make it () source.Sources"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := PerObject(row.next, row.manager, row.opts...)
			require.ErrorContains(t, err, row.want)
		})
	}
}
