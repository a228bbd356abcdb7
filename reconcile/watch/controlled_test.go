package watch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestEventsOfControlledObjects(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		change func(w *world, obj *unstructured.Unstructured)
		want   int
	}{
		{"watch 29: a new spec", func(w *world, obj *unstructured.Unstructured) { w.merge(obj, `{"spec":{"size":2}}`) }, 1},
		{"watch 29, mistake 11: a field that is new, or goes", func(w *world, obj *unstructured.Unstructured) { w.merge(obj, `{"extra":{"a":"b"}}`) }, 1},
		{"watch 31: an annotation, such as the one that pauses (mistake 10)", func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, `{"metadata":{"annotations":{"operkit.dev/pause-execution":"false"}}}`)
		}, 1},
		{"watch 29: a label", func(w *world, obj *unstructured.Unstructured) { w.merge(obj, `{"metadata":{"labels":{"a":"b"}}}`) }, 1},
		{"watch 29: our own status", func(w *world, obj *unstructured.Unstructured) { w.mergeStatus(obj, `{"status":{"ready":true}}`) }, 0},
		{"our own finalizer", func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, `{"metadata":{"finalizers":["example.dev/ours"]}}`)
		}, 0},
		{"a finalizer that somebody takes off: it may have been ours", func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, `{"metadata":{"finalizers":["example.dev/ours"]}}`)
			w.merge(obj, `{"metadata":{"finalizers":null}}`)
		}, 1},
		{"watch 29: a write that changes nothing", func(w *world, obj *unstructured.Unstructured) { w.merge(obj, `{"spec":{"size":1}}`) }, 0},
		{"watch 18: the beginning of its end", func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, `{"metadata":{"finalizers":["example.dev/ours"]}}`)
			w.delete(obj)
		}, 1},
		{"watch 29: its end", func(w *world, obj *unstructured.Unstructured) { w.delete(obj) }, 1},
		{"an object that nobody controls", func(w *world, _ *unstructured.Unstructured) { w.create(object(regions, "", "north")) }, 0},
		{"one of the same kind and name elsewhere is another one", func(w *world, obj *unstructured.Unstructured) {
			elsewhere := obj.DeepCopy()
			elsewhere.SetNamespace("elsewhere")
			w.create(elsewhere)
		}, 1},
	} {
		inBubble(t, row.reason, func(w *world) {
			obj := widget("a")
			w.create(obj)
			w.start()
			assert.Equal(w.t, []string{"Widget shop/a"}, w.taken(), "what is there at the start is reconciled")
			row.change(w, obj)
			assert.Len(w.t, w.settle(), row.want)
		})
	}
}

func TestReplacedUnseen(t *testing.T) {
	t.Parallel()
	inBubble(t, "another object of that name starts anew, and its predecessor's children are nobody's", func(w *world) {
		engine := w.start()
		first, second := widget("a"), widget("a")
		first.SetUID("first")
		second.SetUID("second")
		for _, obj := range []*unstructured.Unstructured{first, second} {
			obj.SetGeneration(1)
		}
		engine.observe(engine.of(widgets), deploy.Event{Type: deploy.Added, New: first}, false)
		engine.of(widgets).backoff.next(key("a"))
		w.settle()
		engine.observe(engine.of(widgets), deploy.Event{Type: deploy.Modified, Old: first, New: second}, false)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
		attempts, _ := w.attempts()
		assert.Equal(w.t, 0, attempts[len(attempts)-1])
		assert.Empty(w.t, engine.owners.Of(widgets, deploy.Event{Type: deploy.Added, New: child("c", first)}))
		assert.Len(w.t, engine.owners.Of(widgets, deploy.Event{Type: deploy.Added, New: child("c", second)}), 1)
	})
}

func TestKindThatCannotBeWatchedYet(t *testing.T) {
	t.Parallel()
	unknown := &deploy.KindUnknownError{Kind: widgets}
	forbidden := &deploy.ForbiddenError{Verb: "list and watch", Resource: schema.GroupResource{Resource: "widgets"}, Err: errors.New("no")}
	for _, row := range []struct {
		reason           string
		refuse, unsynced error
		asks             bool
	}{
		{"watch 20, mistake 13: a kind that isn't installed yet", unknown, nil, true},
		{"watch 20, mistake 13: a cluster that doesn't answer", &deploy.UnavailableError{Err: errors.New("refused")}, nil, true},
		{"watch 20: a kind that may not be read", nil, forbidden, false},
	} {
		inBubble(t, row.reason, func(w *world) {
			w.create(widget("a"))
			w.unable(widgets, row.refuse, row.unsynced)
			w.start()
			w.pass(10 * time.Minute)
			assert.Equal(w.t, 1, w.logs.Count("a kind can't be watched yet, waiting"), "it says so once, not a thousand times")
			assert.Equal(w.t, 1, w.logs.Count(fmt.Sprintf("reason=%q", errors.Join(row.refuse, row.unsynced).Error())))
			asked := len(w.subscriptions())
			if row.asks {
				assert.Empty(w.t, w.taken())
				assert.InDelta(w.t, 10*60/5, asked, 5, "asked for every 5 seconds")
			} else {
				assert.Equal(w.t, 1, asked, "the subscription stands all the same")
			}
			w.unable(widgets, nil, nil)
			w.pass(5 * time.Second)
			assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "watch 20: and goes on by itself")
			assert.Equal(w.t, 1, w.logs.Count("msg=watching kind=Widget version=example.dev/v1"))
		})
	}
	inBubble(t, "watch 20: a view that can tell when it is served is asked once, and not again and again", func(w *world) {
		served := make(chan struct{})
		w.create(widget("a"))
		w.unable(widgets, unknown, nil)
		engine, err := New(&tellingView{w.view, served}, Logger(w.logger()))
		require.NoError(w.t, err)
		require.NoError(w.t, engine.Control(widgets, w.reconciler))
		w.run(engine)
		w.pass(24 * time.Hour)
		assert.Equal(w.t, []string{"Widget"}, w.subscriptions())
		assert.Equal(w.t, 1, w.logs.Count("a kind can't be watched yet, waiting"))
		w.unable(widgets, nil, nil)
		close(served)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "at once")
	})
	inBubble(t, "the end of the engine doesn't wait for that", func(w *world) {
		w.unable(widgets, unknown, nil)
		engine, err := New(&tellingView{w.view, nil}, Logger(w.logger()))
		require.NoError(w.t, err)
		require.NoError(w.t, engine.Control(widgets, w.reconciler))
		w.run(engine)
		w.pass(time.Hour)
		began := time.Now()
		assert.NoError(w.t, w.stop())
		assert.Equal(w.t, began, time.Now())
	})
	inBubble(t, "each new reason is said", func(w *world) {
		w.unable(widgets, unknown, nil)
		w.start()
		w.pass(time.Minute)
		w.unable(widgets, nil, forbidden)
		w.pass(time.Minute)
		assert.Equal(w.t, 2, w.logs.Count("a kind can't be watched yet, waiting"))
	})
	inBubble(t, "the engine's end isn't held up", func(w *world) {
		w.unable(widgets, unknown, nil)
		w.start()
		began := time.Now()
		assert.NoError(w.t, w.stop())
		assert.Equal(w.t, began, time.Now())
	})
	inBubble(t, "the end of the context while the cluster is asked is no reason to say anything", func(w *world) {
		w.asking = func(context.Context, schema.GroupVersionKind) { w.end() }
		w.unable(widgets, unknown, nil)
		w.start()
		assert.NoError(w.t, w.stop())
		assert.Empty(w.t, w.logs.String())
	})
}

// tellingView tells when a kind is served.
type tellingView struct {
	*view
	served chan struct{}
}

func (v *tellingView) Kinds(context.Context) ([]deploy.ServedKind, error) { return nil, nil }

func (v *tellingView) WatchKinds(context.Context, func([]deploy.ServedKind)) {}

func (v *tellingView) Served(ctx context.Context, _ schema.GroupVersionKind) error {
	select {
	case <-v.served:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
