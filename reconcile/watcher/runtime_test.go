package watcher_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/finalizer"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddAtRunTime(t *testing.T) {
	t.Run("watcher 20: a watcher that is added at run time is called for all objects, and the others aren't", func(t *testing.T) {
		var j journal
		w := watcher.New[Bucket](buckets, watcher.Add("first", watcher.Simple(j.funcs("first", nil))))
		h := reconciletest.Drive(t, w)
		h.Apply(small)
		h.RunUntilSettled()
		assert.Equal(t, []string{"first add 1"}, j.taken())
		late, err := w.Add(watcher.Add("late", watcher.Simple(j.funcs("late", nil))))
		require.NoError(t, err)
		h.RunUntilSettled()
		assert.Equal(t, []string{"late add 1"}, j.taken())
		resize(h, 2)
		h.RunUntilSettled()
		assert.Equal(t, []string{"first update 1->2", "late update 1->2"}, j.taken())
		late.Remove()
		late.Remove()
		resize(h, 3)
		h.RunUntilSettled()
		assert.Equal(t, []string{"first update 2->3"}, j.taken())
		_, err = w.Add(watcher.Add("late", watcher.Simple(j.funcs("again", nil))))
		require.NoError(t, err, "the name is free")
		h.Restart()
		h.RunUntilSettled()
		assert.Equal(t, []string{"first add 3", "again add 3"}, j.taken(), "and it stays after a restart of the reconciler")
	})
	t.Run("watcher 20: what a removed watcher was to repeat is dropped, and another one's isn't", func(t *testing.T) {
		var j journal
		w := watcher.New[Bucket](buckets)
		h := reconciletest.Drive(t, w)
		first, err := w.Add(watcher.Add("first", watcher.Simple(j.funcs("first", map[string]int{"add": 1}))))
		require.NoError(t, err)
		_, err = w.Add(watcher.Add("second", watcher.Simple(j.funcs("second", map[string]int{"add": 1}))))
		require.NoError(t, err)
		h.Apply(small)
		h.Advance(0)
		first.Remove()
		h.Advance(time.Hour)
		assert.Equal(t, []string{"first add 1 fails", "second add 1 fails", "second add 1"}, j.taken())
	})
	t.Run("watcher 20: a watcher that is removed during a pass isn't called any more", func(t *testing.T) {
		var j journal
		var second *watcher.Handle
		w := watcher.New[Bucket](buckets, watcher.Add("first", watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error {
			second.Remove()
			return nil
		}})))
		h := reconciletest.Drive(t, w)
		var err error
		second, err = w.Add(watcher.Add("second", watcher.Simple(j.funcs("second", nil))))
		require.NoError(t, err)
		h.Apply(small)
		h.Advance(time.Hour)
		assert.Empty(t, j.taken())
	})
	t.Run("watcher 29: mistakes are reported at once", func(t *testing.T) {
		w := watcher.New[Bucket](buckets, watcher.Add("first", audit{}))
		for _, row := range []struct {
			option watcher.Option
			want   string
		}{
			{watcher.Add("first", audit{}), `watcher "first": there is one already`},
			{watcher.Add("not valid!", audit{}), "the name isn't valid"},
			{watcher.Resync(time.Hour), "use the option Add or AddReconciler"},
			{nil, "use the option Add or AddReconciler"},
			{watcher.Add[Bucket]("nil", nil), "nil watcher"},
		} {
			_, err := w.Add(row.option)
			assert.ErrorContains(t, err, row.want)
		}
	})
}

func TestWhen(t *testing.T) {
	t.Run("watcher 23: a filter of all watchers, and one of a watcher alone", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())),
			watcher.Add("spec", watcher.Simple(j.funcs("spec", nil))),
			watcher.Add("labels", watcher.Simple(j.funcs("labels", nil)), watcher.When(filter.LabelsChanged())))
		j.now = nil
		h.Apply(small)
		h.RunUntilSettled()
		assert.Equal(t, []string{"spec add 1"}, j.taken())
		label(h, "gold")
		h.RunUntilSettled()
		assert.Equal(t, []string{"labels add 1"}, j.taken(), "the first event that counts is Add")
		label(h, "iron")
		h.RunUntilSettled()
		assert.Equal(t, []string{"labels update 1->1"}, j.taken())
		resize(h, 2)
		h.RunUntilSettled()
		assert.Equal(t, []string{"spec update 1->2"}, j.taken())
		h.Delete("Bucket small")
		h.RunUntilSettled()
		assert.Equal(t, []string{"spec delete 2"}, j.taken())
	})
	t.Run("watcher 23: a status counts by default, and a retry is made with what the filter has refused", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Add("all", watcher.Simple(j.funcs("all", nil))),
			watcher.Add("spec", watcher.Simple(j.funcs("spec", map[string]int{"add": 1})), watcher.When(filter.Created())))
		h.Apply(small)
		h.Advance(0)
		resize(h, 2)
		h.Advance(0)
		h.SetStatus("Bucket small", map[string]any{"used": int64(1)})
		h.Advance(time.Hour)
		assert.Equal(t, []string{"0s all add 1", "0s spec add 1 fails", "0s all update 1->2", "0s all update 2->2", "5s spec add 2"}, j.taken())
	})
}

func TestFilterPanics(t *testing.T) {
	t.Run("watcher 62: an event for which a filter panics counts for its watcher, and reaches the others", func(t *testing.T) {
		var j journal
		panics := func(deploy.Event) bool { panic("in the filter") }
		h := drive(t, &j, watcher.Add("odd", watcher.Simple(j.funcs("odd", nil)), watcher.When(panics)), watcher.Add("w", watcher.Simple(j.funcs("w", nil))))
		j.now = nil
		h.Apply(small)
		h.Advance(0)
		resize(h, 2)
		h.Advance(0)
		h.Delete("Bucket small")
		h.Advance(0)
		assert.Equal(t, []string{"odd add 1", "w add 1", "odd update 1->2", "w update 1->2", "odd delete 2", "w delete 2"}, j.taken())
	})
	t.Run("watcher 63: a filter doesn't hide the beginning of a deletion from a watcher with a finalizer", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.When(filter.Created()), watcher.Add("w", watcher.Opinionate(j.funcs("w", nil), watcher.Finalizer(own))))
		j.now = nil
		h.Apply(small)
		h.Advance(0)
		h.Delete("Bucket small")
		h.Advance(0)
		assert.Equal(t, []string{"w add 1", "w delete 1"}, j.taken())
		h.Gone("Bucket small")
	})
}

func TestResync(t *testing.T) {
	t.Run("watcher 24: each object is handled again after the time, less up to a tenth", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Resync(10*time.Minute),
			watcher.Add("cloud", watcher.Opinionate(j.funcs("cloud", nil), watcher.Finalizer(own))),
			watcher.Add("audit", watcher.Simple(j.funcs("audit", nil))),
			watcher.AddReconciler("quota", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
				j.write("quota %s", r.Action)
				return watcher.Result{}, nil
			}))
		j.now = nil
		h.Apply(small)
		h.Advance(9*time.Minute - time.Second)
		assert.Equal(t, []string{"cloud add 1", "audit add 1", "quota CREATE"}, j.taken())
		h.Advance(time.Minute + 2*time.Second)
		assert.Equal(t, []string{"cloud sync 1", "audit update 1->1", "quota RESYNC"}, j.taken())
		assert.Empty(t, ownWrites(h))
		h.Advance(100 * time.Minute)
		assert.InDelta(t, 10, len(j.taken())/3, 2)
	})
	t.Run("watcher 24: a forced reconcile is a resync, and a retry is made at once", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())),
			watcher.Add("bad", watcher.Simple(j.funcs("bad", map[string]int{"add": 1}))), watcher.Add("good", watcher.Simple(j.funcs("good", nil))))
		h.Apply(small)
		h.Advance(time.Second)
		h.Edit("Bucket small", func(obj *unstructuredObject) {
			obj.SetAnnotations(map[string]string{"operkit.dev/reconcile-at": "now"})
		})
		h.Advance(time.Second)
		assert.Equal(t, []string{"0s bad add 1 fails", "0s good add 1", "1s bad add 1", "1s good update 1->1"}, j.taken())
	})
}

func TestPause(t *testing.T) {
	pause := func(h *reconciletest.Harness, value string) {
		h.Edit("Bucket small", func(obj *unstructuredObject) {
			obj.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
		})
		h.Advance(time.Minute)
	}
	t.Run("watcher 25: what happens to a paused object is one change when the pause ends", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.When(filter.Or(filter.Lifecycle(), filter.Generation(), filter.Annotations())), watcher.Add("w", watcher.Simple(j.funcs("w", nil))))
		j.now = nil
		h.Apply(small)
		h.Advance(0)
		pause(h, "true")
		resize(h, 2)
		h.Advance(time.Minute)
		resize(h, 3)
		h.Advance(time.Minute)
		assert.Equal(t, []string{"w add 1"}, j.taken())
		h.Writes(0)
		pause(h, "false")
		assert.Equal(t, []string{"w update 1->3"}, j.taken())
	})
	t.Run("watcher 25: the end of a pause brings what is left to do, whatever the filter", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())), watcher.Add("w", watcher.Simple(j.funcs("w", nil))))
		j.now = nil
		h.Apply(small)
		h.Advance(0)
		pause(h, "true")
		resize(h, 2)
		h.Advance(time.Minute)
		pause(h, "false")
		assert.Equal(t, []string{"w add 1", "w update 1->2"}, j.taken())
	})
	t.Run("watcher 25: a retry waits for the end of the pause", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Add("w", watcher.Simple(j.funcs("w", map[string]int{"add": 1}))))
		h.Apply(small)
		h.Advance(time.Second)
		pause(h, "true")
		pause(h, "false")
		assert.Equal(t, []string{"0s w add 1 fails", "1m1s w add 1"}, j.taken())
	})
	t.Run("watcher 25: an object that goes while it is paused is deleted", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Add("w", watcher.Simple(j.funcs("w", nil))))
		j.now = nil
		h.Apply(small)
		h.Advance(0)
		pause(h, "true")
		h.Delete("Bucket small")
		h.Advance(time.Minute)
		assert.Equal(t, []string{"w add 1", "w delete 1"}, j.taken())
	})
}

func TestLeft(t *testing.T) {
	t.Run("watcher 26: an object that leaves the view is forgotten, and added when it comes back", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.Add("w", watcher.Simple(j.funcs("w", map[string]int{"add": 1}))))
		j.now = nil
		h.Apply(small)
		h.Advance(0)
		h.Leave("Bucket small")
		h.Advance(time.Hour)
		assert.Equal(t, []string{"w add 1 fails"}, j.taken())
		h.Enter("Bucket small")
		h.Advance(time.Hour)
		assert.Equal(t, []string{"w add 1"}, j.taken())
	})
}

func TestRequeue(t *testing.T) {
	t.Run("watcher 13: state is carried from each try to the next one", func(t *testing.T) {
		var states []any
		h := reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Retry(watcher.Exponential(time.Second, 5)),
			watcher.AddReconciler("w", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
				states = append(states, r.State)
				switch len(states) {
				case 1:
					return watcher.Result{State: "one"}, assert.AnError
				case 2:
					return watcher.Result{}, assert.AnError
				case 3:
					return watcher.Result{State: "three", RequeueAfter: time.Hour}, nil
				}
				return watcher.Result{State: "lost"}, nil
			})))
		h.Apply(small)
		h.Advance(10 * time.Hour)
		assert.Equal(t, []any{nil, "one", "one", "three"}, states)
		resize(h, 2)
		h.Advance(time.Hour)
		assert.Nil(t, states[4])
	})
	t.Run("watcher 12: an error with RequeueAfter is reported, and its time counts", func(t *testing.T) {
		var reported []watcher.Failure
		calls := 0
		h := reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Retry(nil), watcher.OnError(func(_ context.Context, f watcher.Failure) { reported = append(reported, f) }),
			watcher.AddReconciler("w", func(context.Context, watcher.Request[Bucket]) (watcher.Result, error) {
				if calls++; calls > 3 {
					return watcher.Result{}, nil
				}
				return watcher.Result{RequeueAfter: time.Minute}, assert.AnError
			})))
		h.Apply(small)
		h.Advance(time.Hour)
		assert.Equal(t, 4, calls, "although the policy never repeats")
		require.Len(t, reported, 3)
		assert.Equal(t, time.Minute, reported[2].RetryIn)
	})
	t.Run("watcher 15: a reconciler with a finalizer", func(t *testing.T) {
		var j journal
		waits := true
		h := reconciletest.Drive(t, watcher.New[Bucket](buckets,
			watcher.AddReconciler("w", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
				j.write("%s %v", r.Action, r.Object.Finalizers)
				if r.Action == watcher.Deleted && waits {
					waits = false
					return watcher.Result{RequeueAfter: time.Minute}, nil
				}
				return watcher.Result{}, nil
			}, watcher.Finalizer(own), watcher.When(filter.Or(filter.Lifecycle(), filter.Generation())))))
		h.Apply(small)
		h.Advance(time.Hour)
		resize(h, 2)
		h.Advance(time.Hour)
		h.Edit("Bucket small", func(obj *unstructuredObject) {
			obj.SetFinalizers(nil)
			obj.Object["spec"] = map[string]any{"size": int64(3)}
		})
		h.Advance(time.Hour)
		h.Restart()
		h.Advance(time.Hour)
		h.Delete("Bucket small")
		h.Advance(time.Hour)
		h.Gone("Bucket small")
		assert.Equal(t, []string{"CREATE []", "UPDATE [" + own + "]", "UPDATE [" + own + "]", "RESYNC [" + own + "]", "DELETE [" + own + "]", "DELETE [" + own + "]"}, j.taken(),
			"a deletion that asks for another call holds the object")
	})
}

func TestNames(t *testing.T) {
	t.Run("watcher 27: the finalizers of all watchers are known to the command release, and rights to the role", func(t *testing.T) {
		w := watcher.New[Bucket](buckets,
			watcher.Add("cloud", watcher.Opinionate(watcher.Wrap(audit{}, true), watcher.Finalizer(own), watcher.InProgress())),
			watcher.AddReconciler("quota", func(context.Context, watcher.Request[Bucket]) (watcher.Result, error) { return watcher.Result{}, nil },
				watcher.Finalizer("example.dev/quota"), watcher.InProgress("example.dev/quota-begun")))
		made, err := w.Reconciler(t.Context(), newEnv(t))
		require.NoError(t, err)
		assert.Equal(t, []string{own, begun, "example.dev/quota", "example.dev/quota-begun"}, made.(finalizer.Provider).Finalizers())
		assert.Equal(t, []string{"get", "list", "watch", "patch"}, made.(watch.RightsProvider).Rights()[0].Verbs)
		made, err = watcher.New[Bucket](buckets, watcher.Add("audit", audit{})).Reconciler(t.Context(), newEnv(t))
		require.NoError(t, err)
		assert.Equal(t, []string{"get", "list", "watch"}, made.(watch.RightsProvider).Rights()[0].Verbs)
	})
}
