package watch

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFollow(t *testing.T) {
	t.Parallel()
	theirs := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "theirs"}
	inBubble(t, "what is followed is the follower's, and nobody else's", func(w *world) {
		owners := map[string]*unstructured.Unstructured{"a": w.create(widget("a")), "b": w.create(widget("b"))}
		touched := 0
		touch := func(names ...string) {
			for _, name := range names {
				touched++
				w.merge(owners[name], fmt.Sprintf(`{"metadata":{"labels":{"touched":"%d"}}}`, touched))
			}
		}
		engine := w.engine()
		var err error
		wanted := map[string]bool{"a": true, "b": true}
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			if wanted[req.Key.Name] {
				require.NoError(w.t, engine.Follow(ctx, req.Key, theirs))
			}
			return request.Result{}, err
		}
		both := []string{"Widget shop/a", "Widget shop/b"}
		w.run(engine)
		assert.Equal(w.t, both, w.settle(), "what exists is no reason to reconcile once more")
		obj := w.create(child("theirs"))
		assert.Equal(w.t, both, w.settle(), "it comes")
		w.create(child("other"))
		assert.Empty(w.t, w.settle(), "another one of the kind")
		w.merge(obj, `{"data":{"k":"v"}}`)
		assert.Equal(w.t, both, w.settle(), "it changes")

		wanted["b"] = false
		touch("b")
		assert.Equal(w.t, both[1:], w.settle())
		w.merge(obj, `{"data":{"k":"w"}}`)
		assert.Equal(w.t, both[:1], w.settle(), "b doesn't ask for it any more")

		wanted["a"], err = false, request.Permanent(errors.New("no"))
		touch("a")
		assert.Equal(w.t, both[:1], w.settle())
		w.delete(obj)
		assert.Equal(w.t, both[:1], w.settle(), "it goes; what failed before it could ask still follows")
		err = nil
		touch("a")
		w.settle()
		assert.Zero(w.t, engine.followers.Len(), "nothing is kept for nobody")
	})
	inBubble(t, "kinds 8: a selection is followed as long as it is asked for", func(w *world) {
		engine := w.engine()
		asks := true
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			if asks {
				return request.Result{}, engine.FollowAll(ctx, req.Key, configMaps, "shop", labels.SelectorFromSet(labels.Set{"colour": "red"}))
			}
			return request.Result{}, nil
		}
		coloured := func(name, colour string) *unstructured.Unstructured {
			obj := child(name)
			obj.SetLabels(map[string]string{"colour": colour})
			return w.create(obj)
		}
		first := coloured("first", "red")
		a := w.create(widget("a"))
		w.run(engine)
		assert.Equal(w.t, []string{"listed"}, w.why(), "what exists is no reason to reconcile once more")
		coloured("second", "blue")
		assert.Empty(w.t, w.why())
		w.merge(first, `{"metadata":{"labels":{"colour":"blue"}}}`)
		assert.Equal(w.t, []string{"followed"}, w.why())
		coloured("third", "red")
		assert.Equal(w.t, []string{"followed"}, w.why())
		asks = false
		w.merge(a, `{"spec":{"size":2}}`)
		assert.Equal(w.t, []string{"changed"}, w.why())
		coloured("fourth", "red")
		assert.Empty(w.t, w.why())
		assert.Zero(w.t, engine.followers.Len())
		assert.EqualError(w.t, engine.FollowAll(w.t.Context(), regionKey("north"), configMaps, "shop", nil),
			"follow ConfigMap shop/ for Region north: the engine has no reconciler for the kind Region")
	})
	inBubble(t, "nothing is followed for what nobody reconciles, and whatever the version for what somebody does", func(w *world) {
		engine := w.start()
		theirs := deploy.Ref{Kind: configMaps, Namespace: "shop", Name: "theirs"}
		assert.EqualError(w.t, engine.Follow(w.t.Context(), regionKey("north"), theirs),
			"follow ConfigMap shop/theirs for Region north: the engine has no reconciler for the kind Region")
		older := key("a")
		older.Kind.Version = "v1alpha1"
		require.NoError(w.t, engine.Follow(w.t.Context(), older, theirs))
		w.create(child("theirs"))
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
	})
	inBubble(t, "a kind that can't be watched is an error", func(w *world) {
		w.refuse = map[schema.GroupVersionKind]error{regions: &deploy.KindUnknownError{Kind: regions}}
		engine := w.start()
		assert.ErrorContains(w.t, engine.Follow(w.t.Context(), key("a"), deploy.Ref{Kind: regions, Name: "north"}), "watch Region: ")
		assert.Zero(w.t, engine.followers.Len())
	})
}
