package watcher_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestInContext(t *testing.T) {
	t.Run("watcher 76: what a function logs has the object, the watcher and what the function is called for", func(t *testing.T) {
		funcs := func() watcher.Funcs[Bucket] {
			logs := func(ctx context.Context, _ *Bucket) error {
				watcher.Logger(ctx).Info("called")
				watcher.Record(ctx, event.Normal, "Seen", "seen %d times", 3)
				return nil
			}
			return watcher.Funcs[Bucket]{Add: logs, Delete: func(context.Context, *Bucket) error { return assert.AnError }}
		}
		var failures []watcher.Failure
		h := spy(t, watcher.New[Bucket](buckets, watcher.OnError(func(_ context.Context, f watcher.Failure) { failures = append(failures, f) }),
			watcher.Add("cloud", timedAll{watcher.Opinionate(funcs(), watcher.Finalizer(own))})))
		h.Apply(small)
		h.Advance(0)
		assert.Contains(t, h.log.String(), `level=INFO msg=called object=`)
		assert.Contains(t, h.log.String(), `watcher=cloud action=CREATE`)
		require.Len(t, h.events, 1)
		assert.Equal(t, []string{"Normal", "Seen", "seen 3 times", "small"},
			[]string{string(h.events[0].Type), h.events[0].Reason, h.events[0].Note, h.events[0].Regarding.Name})
		h.log.Reset()
		h.Delete("Bucket small")
		h.Advance(0)
		assert.Contains(t, h.log.String(), `watcher=cloud action=DELETE`)
		assert.NotContains(t, h.log.String(), `action=UPDATE`)
		require.Len(t, failures, 1)
		assert.Equal(t, watcher.Deleted, failures[0].Action)
	})
	t.Run("watcher 76: the annotations of an object set the level of its logger", func(t *testing.T) {
		h := spy(t, watcher.New[Bucket](buckets, watcher.Add("w", watcher.Simple(watcher.Funcs[Bucket]{Add: func(ctx context.Context, b *Bucket) error {
			watcher.Logger(ctx).Debug("called for " + b.Name)
			return nil
		}}))))
		h.Apply(small, `{apiVersion: example.dev/v1, kind: Bucket, metadata: {name: loud, annotations: {operkit.dev/log-default-level: debug}}}`)
		h.Advance(0)
		assert.Equal(t, []int{0, 1}, []int{h.log.Count("called for small"), h.log.Count("called for loud")})
	})
	t.Run("watcher 76: outside of a call there is a logger, and no events", func(t *testing.T) {
		assert.NotNil(t, watcher.Logger(t.Context()))
		watcher.Record(t.Context(), event.Normal, "Seen", "seen")
	})
}

// withStatus is a bucket with a status.
type withStatus struct {
	Bucket `json:",inline"`
	Status struct {
		Size       int                `json:"size,omitempty"`
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitzero"`
}

func TestSetStatus(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	writes := func(ctx context.Context, size int) error {
		return watcher.SetStatus(ctx, func(b *withStatus) {
			b.Status.Size = size
			b.Spec.Size = 77 // is ignored
			status.Conditions(b).Set(now, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Created", ObservedGeneration: b.Generation})
		})
	}
	watchers := func(j *journal, opts ...watcher.Option) *watcher.Watchers[withStatus] {
		funcs := watcher.Funcs[withStatus]{
			Add: func(ctx context.Context, b *withStatus) error {
				j.write("add %d", b.Spec.Size)
				return writes(ctx, b.Spec.Size)
			},
			Update: func(ctx context.Context, old, b *withStatus) error {
				j.write("update %d->%d, status %d", old.Spec.Size, b.Spec.Size, b.Status.Size)
				return writes(ctx, b.Spec.Size)
			},
			Delete: func(ctx context.Context, _ *withStatus) error {
				j.write("delete")
				return writes(ctx, 0)
			},
		}
		return watcher.New[withStatus](buckets, append(opts, watcher.Add("w", watcher.Simple(funcs)))...)
	}
	t.Run("watcher 78: a status is written once, and the write leads to no call", func(t *testing.T) {
		var j journal
		h := spyOn(t, watchers(&j, watcher.WritesStatus()))
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(1)
		assert.Equal(t, metav1.ConditionTrue, h.Condition("Bucket small", "Ready").Status)
		size, _, _ := unstructured.NestedInt64(h.Get("Bucket small").Object, "status", "size")
		assert.EqualValues(t, 1, size)
		size, _, _ = unstructured.NestedInt64(h.Get("Bucket small").Object, "spec", "size")
		assert.EqualValues(t, 1, size)
		label(h.Harness, "gold")
		h.RunUntilSettled()
		h.Writes(0)
		resize(h.Harness, 2)
		h.RunUntilSettled()
		h.Writes(1)
		assert.Equal(t, []string{"add 1", "update 1->1, status 1", "update 1->2, status 1"}, j.taken())
		h.Delete("Bucket small")
		h.RunUntilSettled()
		h.Writes(0)
		assert.Equal(t, []string{"delete"}, j.taken(), "an object that is gone is no error")
		assert.NotContains(t, h.log.String(), "WARN")
	})
	t.Run("watcher 78: a change of others at the time of the write is another call", func(t *testing.T) {
		var j journal
		var h *spied
		h = spyOn(t, watcher.New[withStatus](buckets, watcher.WritesStatus(), watcher.Add("w", watcher.Simple(watcher.Funcs[withStatus]{
			Add: func(ctx context.Context, b *withStatus) error {
				j.write("add")
				_, err := h.Cluster().Port().Patch(ctx, deploy.Ref{Kind: buckets, Namespace: b.Namespace, Name: b.Name}, deploy.PatchRequest{
					Type: "application/merge-patch+json", Body: []byte(`{"spec":{"size":5}}`), FieldManager: "somebody",
				})
				require.NoError(t, err)
				return writes(ctx, 1)
			},
			Update: func(_ context.Context, old, b *withStatus) error {
				j.write("update %d->%d", old.Spec.Size, b.Spec.Size)
				return nil
			},
		}))))
		h.Apply(small)
		h.RunUntilSettled()
		assert.Equal(t, []string{"add", "update 1->5"}, j.taken())
	})
	t.Run("watcher 78: the right to it has to be declared", func(t *testing.T) {
		var j journal
		var failures []watcher.Failure
		h := spyOn(t, watchers(&j, watcher.OnError(func(_ context.Context, f watcher.Failure) { failures = append(failures, f) })))
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(0)
		require.Len(t, failures, 1)
		assert.ErrorContains(t, failures[0].Err, `watcher "w" doesn't declare it: use the option WritesStatus`)
		made, err := watchers(&j, watcher.WritesStatus()).Reconciler(t.Context(), newEnv(t))
		require.NoError(t, err)
		assert.Equal(t, []deploy.Right{
			{Kind: buckets, Verbs: []string{"get", "list", "watch"}}, {Kind: buckets, Subresource: "status", Verbs: []string{"patch"}},
		}, made.(watch.RightsProvider).Rights())
		assert.ErrorContains(t, writes(t.Context(), 1), "called outside of a watcher")
	})
	t.Run("watcher 78: with a finalizer, too", func(t *testing.T) {
		h := spyOn(t, watcher.New[withStatus](buckets, watcher.WritesStatus(), watcher.Add("w", watcher.Opinionate(watcher.Funcs[withStatus]{
			Add:    func(ctx context.Context, b *withStatus) error { return writes(ctx, b.Spec.Size) },
			Update: func(ctx context.Context, _, b *withStatus) error { return writes(ctx, b.Spec.Size) },
			Delete: func(ctx context.Context, _ *withStatus) error { return writes(ctx, 0) },
		}, watcher.Finalizer(own), watcher.InProgress()))))
		h.Apply(small)
		h.RunUntilSettled()
		h.Writes(3)
		resize(h.Harness, 2)
		h.RunUntilSettled()
		h.Writes(1)
		h.Delete("Bucket small")
		h.RunUntilSettled()
		h.Writes(2)
		h.Gone("Bucket small")
	})
}
