package watcher_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const begun = own + "-in-progress"

// held returns a bucket with finalizers of somebody else and its own.
func held(finalizers string) string {
	return `{apiVersion: example.dev/v1, kind: Bucket, metadata: {name: small, finalizers: [` + finalizers + `]}, spec: {size: 1}}`
}

func TestHold(t *testing.T) {
	const theirs = "other.dev/x"
	inProgress := []watcher.Option{watcher.InProgress()}
	for _, row := range []struct {
		reason string
		opts   []watcher.Option
		fails  map[string]int
		object string
		do     func(h *reconciletest.Harness)
		want   []string
		// finalizers are those at the end, nil if the object is gone.
		finalizers []string
		writes     int
	}{
		{"watcher 16: a new object is begun, added and held", inProgress, nil, held(theirs), func(*reconciletest.Harness) {},
			[]string{"w add 1"}, []string{theirs, own}, 2},
		{"watcher 15: without the finalizer for the time of Add", nil, nil, held(theirs), func(*reconciletest.Harness) {},
			[]string{"w add 1"}, []string{theirs, own}, 1},
		{"watcher 16: as long as Add fails it is there", inProgress, map[string]int{"add": -1}, held(theirs), func(*reconciletest.Harness) {},
			[]string{"w add 1 fails", "w add 1 fails"}, []string{theirs, begun}, 1},
		{"watcher 15: an object that was held before is checked", inProgress, nil, held(own), func(*reconciletest.Harness) {},
			[]string{"w sync 1"}, []string{own}, 0},
		{"watcher 15: what was left of Add is removed", inProgress, nil, held(begun + ", " + own), func(*reconciletest.Harness) {},
			[]string{"w sync 1"}, []string{own}, 1},
		{"watcher 15: one whose Add hadn't ended is added again", inProgress, nil, held(begun), func(*reconciletest.Harness) {},
			[]string{"w add 1"}, []string{own}, 1},
		{"watcher 15: a new generation is an update, a label is none", inProgress, nil, held(own), func(h *reconciletest.Harness) {
			label(h, "gold")
			h.Advance(time.Second)
			resize(h, 2)
		}, []string{"w sync 1", "w update 1->2"}, []string{own}, 0},
		{"watcher 15: unless any change counts", []watcher.Option{watcher.AnyChange()}, nil, held(own), func(h *reconciletest.Harness) {
			label(h, "gold")
		}, []string{"w sync 1", "w update 1->1"}, []string{own}, 0},
		{"watcher 15: a finalizer that somebody removed is put back, by another Add", inProgress, nil, held(own), func(h *reconciletest.Harness) {
			h.Edit("Bucket small", func(obj *unstructuredObject) { obj.SetFinalizers([]string{theirs}) })
		}, []string{"w sync 1", "w add 1"}, []string{theirs, own}, 2},
		{"watcher 15: a deletion is handled before the object goes", inProgress, nil, held(own), func(h *reconciletest.Harness) {
			h.Delete("Bucket small")
		}, []string{"w sync 1", "w delete 1"}, nil, 1},
		{"watcher 17: those of others stay", inProgress, nil, held(theirs + ", " + own), func(h *reconciletest.Harness) {
			h.Delete("Bucket small")
		}, []string{"w sync 1", "w delete 1"}, []string{theirs}, 1},
		{"watcher 64: a deletion that fails holds it, and isn't given up", inProgress, map[string]int{"delete": -1}, held(own), func(h *reconciletest.Harness) {
			h.Delete("Bucket small")
		}, []string{"w sync 1", "w delete 1 fails", "w delete 1 fails", "w delete 1 fails"}, []string{own}, 0},
		{"watcher 19: a deletion while Add fails reaches Delete", inProgress, map[string]int{"add": -1}, small, func(h *reconciletest.Harness) {
			h.Delete("Bucket small")
		}, []string{"w add 1 fails", "w delete 1"}, nil, 2},
		{"watcher 15: a deletion without the finalizer isn't the watcher's", nil, map[string]int{"add": -1}, held(theirs), func(h *reconciletest.Harness) {
			h.Delete("Bucket small")
		}, []string{"w add 1 fails"}, []string{theirs}, 0},
	} {
		t.Run(row.reason, func(t *testing.T) {
			var j journal
			opts := append([]watcher.Option{watcher.Finalizer(own)}, row.opts...)
			h := drive(t, &j, watcher.Retry(watcher.Exponential(time.Hour, 1)), watcher.Add("w", watcher.Opinionate(j.funcs("w", row.fails), opts...)))
			j.now = nil
			h.Apply(row.object)
			h.Advance(0)
			writes := len(ownWrites(h))
			row.do(h)
			h.Advance(2 * time.Hour)
			writes += len(ownWrites(h))
			assert.Equal(t, row.want, j.taken())
			if row.finalizers == nil {
				h.Gone("Bucket small")
			} else {
				assert.Equal(t, row.finalizers, h.Get("Bucket small").GetFinalizers())
			}
			assert.Equal(t, row.writes, writes)
		})
	}
}

// ownWrites returns the writes of the latest run.
func ownWrites(h *reconciletest.Harness) (writes []reconciletest.Call) {
	for _, call := range h.Calls() {
		if call.Verb == dryrun.VerbPatch {
			writes = append(writes, call)
		}
	}
	return writes
}

func TestWithoutDelete(t *testing.T) {
	t.Run("watcher 15: without Delete no finalizer is added, and one that is there holds nothing", func(t *testing.T) {
		var j journal
		funcs := j.funcs("w", nil)
		funcs.Delete = nil
		h := drive(t, &j, watcher.Add("w", watcher.Opinionate(funcs, watcher.Finalizer(own), watcher.InProgress())))
		j.now = nil
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(0)
		resize(h, 2)
		h.RunUntilSettled()
		assert.Equal(t, []string{"w add 1", "w update 1->2"}, j.taken())
		h.Edit("Bucket small", func(obj *unstructuredObject) { obj.SetFinalizers([]string{own}) })
		h.RunUntilSettled()
		h.Delete("Bucket small")
		h.RunUntilSettled()
		h.Gone("Bucket small")
	})
}

func TestWriteFails(t *testing.T) {
	for _, row := range []struct {
		reason string
		// after is the number of writes before the one that fails.
		after int
		want  []string
	}{
		{"watcher 18: a write that fails after Add is repeated without Add", 1, []string{"0s w add 1"}},
		{"watcher 18: one before Add is repeated, and then comes Add", 0, []string{"5s w add 1"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			var j journal
			h := drive(t, &j, watcher.Dequeue(nil), watcher.Add("w", watcher.Opinionate(j.funcs("w", nil), watcher.Finalizer(own), watcher.InProgress())))
			h.Apply(small)
			require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, After: row.after, Count: 1, Code: http.StatusForbidden}))
			h.Advance(time.Hour)
			assert.Equal(t, row.want, j.taken())
			assert.Equal(t, []string{own}, h.Get("Bucket small").GetFinalizers())
		})
	}
}

func TestWriteFailsForEver(t *testing.T) {
	t.Run("watcher 61: a write that fails is repeated as the policy says, also of a finalizer that somebody removed", func(t *testing.T) {
		var j journal
		var reported []watcher.Failure
		h := drive(t, &j, watcher.Retry(watcher.Exponential(time.Minute, 3)), watcher.OnError(func(_ context.Context, f watcher.Failure) { reported = append(reported, f) }),
			watcher.AddReconciler("w", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
				j.write("%s", r.Action)
				return watcher.Result{}, nil
			}, watcher.Finalizer(own)))
		h.Apply(held(own))
		h.Advance(0)
		h.Edit("Bucket small", func(obj *unstructuredObject) { obj.SetFinalizers(nil) })
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Count: 1000, Code: http.StatusForbidden}))
		h.Advance(time.Hour)
		assert.Equal(t, []string{"0s RESYNC"}, j.taken())
		require.Len(t, reported, 4)
		assert.True(t, reported[3].GivenUp)
	})
}

func TestRequeueIsKept(t *testing.T) {
	t.Run("watcher 18: a call that a reconciler has asked for comes, although the write after the first one fails once", func(t *testing.T) {
		var j journal
		h := drive(t, &j, watcher.AddReconciler("w", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
			j.write("%s %v", r.Action, r.State)
			if r.State != nil {
				return watcher.Result{}, nil
			}
			return watcher.Result{RequeueAfter: time.Minute, State: "half"}, nil
		}, watcher.Finalizer(own), watcher.When(filter.Or(filter.Lifecycle(), filter.Generation()))))
		h.Apply(small)
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Count: 1, Code: http.StatusForbidden}))
		h.Advance(time.Hour)
		assert.Equal(t, []string{"0s CREATE <nil>", "1m5s RESYNC half"}, j.taken())
	})
}

func TestGoneBeforeFinish(t *testing.T) {
	for _, row := range []struct{ reason, object, retry string }{{"is gone", small, "6s"}, {"is being deleted", held("other.dev/x"), "5s"}} {
		t.Run("watcher 19: an object that "+row.reason+" before the write after Add is repeated reaches Delete", func(t *testing.T) {
			var j journal
			h := drive(t, &j, watcher.Add("w", watcher.Opinionate(j.funcs("w", map[string]int{"delete": 1}), watcher.Finalizer(own))))
			h.Apply(row.object)
			require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Count: 1, Code: http.StatusForbidden}))
			h.Advance(time.Second)
			h.Delete("Bucket small")
			h.Advance(time.Hour)
			assert.Equal(t, []string{"0s w add 1", "1s w delete 1 fails", row.retry + " w delete 1"}, j.taken())
		})
	}
}

func TestGoneMeanwhile(t *testing.T) {
	for _, row := range []struct {
		reason string
		opts   []watcher.Option
		object string
		retry  string
	}{
		{"watcher 19: an object that goes during Add is deleted, without the finalizer for that time", nil, small, "0s"},
		{"watcher 19: also if somebody else holds it", nil, held("other.dev/x"), "0s"},
		{"watcher 19: and with it", []watcher.Option{watcher.InProgress()}, small, "5s"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			var j journal
			var h *reconciletest.Harness
			funcs := j.funcs("w", map[string]int{"delete": 1})
			add := funcs.Add
			funcs.Add = func(ctx context.Context, b *Bucket) error {
				ref := deploy.Ref{Kind: buckets, Namespace: b.Namespace, Name: b.Name}
				require.NoError(t, h.Cluster().Port().Delete(ctx, ref, deploy.DeleteOptions{}))
				return add(ctx, b)
			}
			h = drive(t, &j, watcher.Add("w", watcher.Opinionate(funcs, append(row.opts, watcher.Finalizer(own))...)))
			h.Apply(row.object)
			h.Advance(time.Hour)
			assert.Equal(t, []string{"0s w add 1", "0s w delete 1 fails", row.retry + " w delete 1"}, j.taken(), "an event comes before the retry")
		})
	}
}
