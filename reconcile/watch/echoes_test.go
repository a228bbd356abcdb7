package watch

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Whoever writes its children and says so isn't called for these writes, but for what others do.
func TestOwnWritesBringNobody(t *testing.T) {
	t.Parallel()
	owned := source.Sources{Owned: []source.Owned{{Kind: configMaps}}}
	stateOf := func(obj *unstructured.Unstructured) []request.Revision {
		return []request.Revision{{UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion()}}
	}
	inBubble(t, "an own write", func(w *world) {
		w.declare(owned)
		a := w.create(widget("a"))
		w.do = func(context.Context, request.Request) (request.Result, error) {
			return request.Result{Wrote: stateOf(w.create(child("c", a)))}, nil
		}
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why())
		c := w.create(child("c", a)) // the same once more: no change
		assert.Empty(w.t, w.why())
		w.merge(c, `{"data":{"k":"theirs"}}`)
		assert.Equal(w.t, []string{"child"}, w.why(), "what others do")
		w.delete(c)
		assert.Equal(w.t, []string{"child"}, w.why(), "a deletion; the write that makes it anew is its own again")
	})
	inBubble(t, "an own write of what it follows, too", func(w *world) {
		w.declare(owned)
		a := w.create(widget("a"))
		engine := w.engine()
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			if err := engine.FollowAll(ctx, req.Key, configMaps, "shop", labels.Everything()); err != nil {
				return request.Result{}, err
			}
			return request.Result{Wrote: stateOf(w.create(child("c", a)))}, nil
		}
		w.run(engine)
		assert.Equal(w.t, []string{"listed"}, w.why())
		w.merge(a, `{"metadata":{"labels":{"touched":"once"}}}`)
		assert.Equal(w.t, []string{"changed"}, w.why(), "which writes nothing")
		c := w.create(child("c", a))
		assert.Empty(w.t, w.why())
		w.merge(c, `{"data":{"k":"theirs"}}`)
		assert.NotEmpty(w.t, w.why(), "what others do")
	})
	inBubble(t, "one that isn't told", func(w *world) {
		w.declare(owned)
		a := w.create(widget("a"))
		w.do = func(context.Context, request.Request) (request.Result, error) {
			w.create(child("c", a))
			return request.Result{}, nil
		}
		w.start()
		assert.Equal(w.t, []string{"listed", "child"}, w.why())
	})
	inBubble(t, "what others write during the reconcile", func(w *world) {
		w.declare(owned)
		a := w.create(widget("a"))
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			if req.Triggers.String() != "listed" {
				return request.Result{}, nil
			}
			c := w.create(child("c", a))
			w.merge(c, `{"data":{"k":"theirs"}}`)
			return request.Result{Wrote: stateOf(c)}, nil
		}
		w.start()
		assert.Equal(w.t, []string{"listed", "child"}, w.why())
	})
	inBubble(t, "a reconcile that fails is retried at its time", func(w *world) {
		w.declare(owned)
		a := w.create(widget("a"))
		failures := 1
		w.do = func(context.Context, request.Request) (request.Result, error) {
			if failures--; failures >= 0 {
				return request.Result{Wrote: stateOf(w.create(child("c", a)))}, errors.New("no luck")
			}
			return request.Result{}, nil
		}
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why())
	})
	inBubble(t, "a reconcile that fails for good knows nothing", func(w *world) {
		w.declare(owned)
		a := w.create(widget("a"))
		failures := 1
		w.do = func(context.Context, request.Request) (request.Result, error) {
			c := w.create(child("c", a))
			if failures--; failures >= 0 {
				return request.Result{Wrote: stateOf(c)}, request.Permanent(errors.New("no luck"))
			}
			return request.Result{}, nil
		}
		w.start()
		assert.Equal(w.t, []string{"listed", "child"}, w.why())
	})
}
