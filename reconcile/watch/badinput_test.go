package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// storm is how many events come at once.
const storm = 50_000

func TestStorm(t *testing.T) {
	t.Parallel()
	versions := func(obj func() *unstructured.Unstructured) (before, after *unstructured.Unstructured) {
		before, after = obj(), obj()
		after.SetResourceVersion("7")
		after.SetGeneration(7)
		return before, after
	}
	for reason, event := range map[string]func(a *unstructured.Unstructured) deploy.Event{
		"of its own": func(a *unstructured.Unstructured) deploy.Event {
			before, after := versions(func() *unstructured.Unstructured { return a.DeepCopy() })
			return deploy.Event{Type: deploy.Modified, Old: before, New: after}
		},
		"of a child": func(a *unstructured.Unstructured) deploy.Event {
			before, after := versions(func() *unstructured.Unstructured { return child("c", a) })
			return deploy.Event{Type: deploy.Modified, Old: before, New: after}
		},
		"of what it follows": func(*unstructured.Unstructured) deploy.Event {
			before, after := versions(func() *unstructured.Unstructured { return child("theirs") })
			return deploy.Event{Type: deploy.Modified, Old: before, New: after}
		},
		"of a mapped object": func(*unstructured.Unstructured) deploy.Event {
			before, after := versions(func() *unstructured.Unstructured { return object(regions, "", "north") })
			return deploy.Event{Type: deploy.Modified, Old: before, New: after}
		},
		"that force it": func(a *unstructured.Unstructured) deploy.Event {
			before, after := versions(func() *unstructured.Unstructured { return a.DeepCopy() })
			after.SetAnnotations(map[string]string{"operkit.dev/reconcile-at": "now"})
			return deploy.Event{Type: deploy.Modified, Old: before, New: after}
		},
	} {
		inBubble(t, "watch 9: 50 000 events on one object while it is reconciled make one more reconcile, and no memory: "+reason, func(w *world) {
			var engine *Engine
			theirs := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "theirs"}
			w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
				assert.NoError(w.t, engine.Follow(ctx, req.Key, theirs))
				time.Sleep(time.Minute)
				return request.Result{}, errors.New("weird")
			}
			w.declare(source.Sources{
				Owned:  []source.Owned{{Kind: configMaps}},
				Mapped: []source.Mapped{{Kind: regions, Keys: func(deploy.Event) []deploy.Ref { return []deploy.Ref{key("a")} }}},
			})
			a := w.create(widget("a"))
			engine = w.engine(Backoff(time.Hour, time.Hour))
			w.run(engine)
			w.pass(time.Second)
			came := event(a)
			for range storm {
				w.emit(came)
			}
			w.pass(time.Second)
			state := engine.State()
			assert.GreaterOrEqual(w.t, state.Events, uint64(storm))
			assert.Equal(w.t, 1, state.Waiting)
			w.pass(10 * time.Minute)
			assert.Len(w.t, w.taken(), 2)
			assert.Equal(w.t, 1, engine.State().Timers)
			assert.Equal(w.t, []int{1, 1, 1}, []int{engine.owners.Len(), engine.followers.Len(), engine.State().Failing})
			assert.Equal(w.t, 2, w.logs.Count("level=WARN"), "a line for each reconcile that failed, and none for the events")
		})
	}
	inBubble(t, "watch 9: 50 000 keys of an external source at once", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(time.Minute)
			return request.Result{}, nil
		}
		w.create(widget("a"))
		w.declare(source.Sources{When: filter.Never(), External: []source.External{source.Func(func(_ context.Context, target source.Target) {
			for range storm {
				target.Bring(key("a"))
			}
		})}})
		w.start(Workers(2))
		w.pass(10 * time.Minute)
		assert.LessOrEqual(w.t, len(w.taken()), 2)
	})
}

func TestTimesWithoutEnd(t *testing.T) {
	t.Parallel()
	const forever = 1<<63 - 1
	for reason, answer := range map[string]any{
		"a result": request.Result{RequeueAfter: forever}, "a failure": request.RetryAfter(forever, errors.New("weird")),
		"a result that is long over": request.Result{RequeueAfter: -forever}, "a failure that is": request.RetryAfter(-forever, errors.New("weird")),
	} {
		inBubble(t, "watch 15: a time without end is none that comes, and one before now none that is missed: "+reason, func(w *world) {
			w.do = inTurn(answer, request.Result{})
			w.create(widget("a"))
			engine := w.start()
			assert.Len(w.t, w.taken(), 1)
			w.pass(200 * 365 * 24 * time.Hour)
			assert.Len(w.t, w.taken(), map[bool]int{true: 1}[reason == "a failure that is"], "it is left to the backoff")
			assert.LessOrEqual(w.t, engine.State().Timers, 1)
			w.create(widget("b"))
			assert.Len(w.t, w.settle(), 1)
		})
	}
}

func TestNonsense(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 12, 13: objects and events that make no sense harm nobody", func(w *world) {
		w.declare(source.Sources{
			Owned:  []source.Owned{{Kind: configMaps}},
			Mapped: []source.Mapped{{Kind: regions, Keys: byLabel}},
		})
		w.start()
		for _, kind := range []string{"example.dev/v1 Widget", "v1 ConfigMap", "example.dev/v1 Region"} {
			version, name, _ := strings.Cut(kind, " ")
			for _, metadata := range []any{
				nil, "text", []any{}, map[string]any{"name": int64(7), "annotations": []any{"a"}, "labels": "b"},
				map[string]any{"name": "n", "ownerReferences": "nobody", "generation": "seven", "uid": false},
				map[string]any{"name": "n", "ownerReferences": []any{"nobody", map[string]any{"kind": "Widget", "apiVersion": "a/b/c"}}},
				map[string]any{"name": "n", "deletionTimestamp": "soon", "annotations": map[string]any{"operkit.dev/reconcile-at": int64(1)}},
			} {
				before := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": name, "metadata": map[string]any{}}}
				after := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": name, "metadata": metadata, "status": 7}}
				for _, event := range []deploy.Event{
					{Type: deploy.Added, New: after}, {Type: deploy.Modified, Old: before, New: after}, {Type: deploy.Modified, Old: after, New: before},
					{Type: "BOOKMARK", New: after}, {Type: "ERROR", New: after}, {Type: deploy.Left, Old: after, New: after}, {Type: deploy.Deleted, Old: after, New: after},
				} {
					assert.NotPanics(w.t, func() { w.emit(event) }, "%s %v", event.Type, metadata)
				}
			}
		}
		w.settle()
		w.create(widget("a"))
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "others go on")
	})
}

func TestSharedWorkers(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 6: all kinds share one queue and its workers", func(w *world) {
		var running, most atomic.Int32
		w.do = func(context.Context, request.Request) (request.Result, error) {
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return request.Result{}, nil
		}
		engine := w.engine(Workers(1))
		require.NoError(w.t, engine.Control(regions, w.reconciler))
		for i := range 5 {
			w.create(widget(fmt.Sprint("w", i)))
			w.create(object(regions, "", fmt.Sprint("r", i)))
		}
		w.run(engine)
		w.pass(time.Minute)
		assert.Len(w.t, w.taken(), 10)
		assert.Equal(w.t, int32(1), most.Load())
	})
	inBubble(t, "watch 22, mistake 16: a thousand objects make one subscription of a kind, and what nobody follows is forgotten", func(w *world) {
		following := true
		engine := w.engine()
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			err := engine.Own(ctx, widgets, configMaps)
			if following {
				err = errors.Join(err, engine.Follow(ctx, req.Key, deploy.Ref{Kind: secrets, Namespace: "shop", Name: req.Key.Name}))
			}
			return request.Result{}, err
		}
		for i := range 1000 {
			w.create(widget(fmt.Sprint("w", i)))
		}
		w.run(engine)
		assert.Len(w.t, w.settle(), 1000)
		assert.ElementsMatch(w.t, []string{"Widget", "ConfigMap", "Secret"}, w.subscriptions())
		assert.Equal(w.t, 1000, engine.followers.Len())
		following = false
		for i := range 500 {
			w.merge(widget(fmt.Sprint("w", i)), newSpec)
			w.delete(widget(fmt.Sprint("w", i+500)))
		}
		w.settle()
		assert.Zero(w.t, engine.followers.Len())
		assert.Equal(w.t, 500, engine.owners.Len())
	})
}

func TestSubsystem(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 27, mistake 17: a part with a reconciler of its own brings the whole when it is ready, or fails", func(w *world) {
		fails := true
		parts := &reconciler{do: func(ctx context.Context, req request.Request) (request.Result, error) {
			reason := "Stable"
			if fails {
				reason = "Errored"
			}
			_, err := w.memory.Port().Patch(ctx, deploy.Ref(req.Key), deploy.PatchRequest{
				Type: types.MergePatchType, Subresource: "status", FieldManager: "parts",
				Body: []byte(`{"status":{"conditions":[{"type":"Ready","reason":"` + reason + `"}]}}`),
			})
			return request.Result{}, err
		}}
		w.declare(source.Sources{Owned: []source.Owned{{Kind: regions, When: filter.ReadyReason()}}})
		a := w.create(widget("a"))
		engine := w.engine()
		require.NoError(w.t, engine.Control(regions, parts))
		w.run(engine)
		assert.Equal(w.t, []string{"listed"}, w.why())
		part := object(regions, "", "part")
		part.SetOwnerReferences(child("c", a).GetOwnerReferences())
		part.Object["spec"] = map[string]any{"size": int64(1)}
		w.create(part)
		assert.Equal(w.t, []string{"child"}, w.why(), "its failure is told by its status, and lost nowhere")
		w.merge(part, newSpec)
		assert.Empty(w.t, w.why(), "what is the part's own matter stays so")
		fails = false
		w.merge(part, `{"spec":{"size":3}}`)
		assert.Equal(w.t, []string{"child"}, w.why())
		assert.Len(w.t, parts.taken(), 3, "the part is reconciled by itself")
	})
}

func TestOverMemory(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 3, 4, mistake 19: over a cluster in memory a status that it writes brings no object, and a failure blocks none", func(w *world) {
		tries := 0
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			_, err := w.memory.Port().Patch(ctx, deploy.Ref(req.Key), deploy.PatchRequest{
				Type: types.MergePatchType, Subresource: "status", FieldManager: "we", Body: []byte(fmt.Sprintf(`{"status":{"tries":%d}}`, tries)),
			})
			if tries++; tries == 1 {
				err = errors.Join(err, errors.New("weird"))
			}
			return request.Result{}, err
		}
		a := w.create(widget("a"))
		w.start()
		w.pass(time.Hour)
		assert.Equal(w.t, []string{"listed", "retry"}, w.why())
		w.merge(a, `{"metadata":{"finalizers":["example.dev/ours"]}}`)
		w.merge(a, newSpec)
		assert.Equal(w.t, []string{"changed"}, w.why())
		w.delete(a)
		assert.Equal(w.t, []string{"deleting"}, w.why(), "with a finalizer its deletion brings it")
	})
	inBubble(t, "watch mistake 21: one that is gone is no longer there to be finalized", func(w *world) {
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			obj, err := w.view.Get(ctx, req.Key)
			if req.Triggers.Has(request.Deleted) {
				assert.Nil(w.t, obj)
			}
			return request.Result{}, err
		}
		a := w.create(widget("a"))
		w.start()
		w.taken()
		w.delete(a)
		assert.Equal(w.t, []string{"deleted"}, w.why())
	})
}
