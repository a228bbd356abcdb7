package watch_test

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// handlers are another style of operator: a function for each thing that happens to an object, given it before and after
// that. Before is as it was last handled, so that nothing is missed when several changes come at once.
type handlers struct {
	view                   deploy.View
	create, update, delete func(ctx context.Context, before, after *unstructured.Unstructured) error
	// handled are the objects as they were last handled, gone those that went, by their keys.
	handled, gone sync.Map
}

func (h *handlers) Sources() source.Sources {
	return source.Sources{When: filter.Or(filter.Lifecycle(), filter.Generation())}
}

func (h *handlers) Observe(event deploy.Event) {
	if key := deploy.RefOf(event.New); event.Type == deploy.Deleted {
		h.gone.Store(key, event.New)
	} else if event.Type == deploy.Left {
		h.handled.Delete(key)
	}
}

func (h *handlers) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	last, isGone := h.gone.Load(req.Key) // before the present is read: what goes after that comes again
	present, err := h.view.Get(ctx, req.Key)
	handled, isKnown := h.handled.Load(req.Key)
	if err == nil && isGone && isKnown {
		err = h.delete(ctx, last.(*unstructured.Unstructured), nil)
	}
	if err != nil {
		return result, err // it is tried again, with the same object before
	}
	if isGone {
		h.gone.CompareAndDelete(req.Key, last)
		h.handled.Delete(req.Key)
	}
	if present == nil {
		return result, nil
	} else if !isKnown || isGone {
		err = h.create(ctx, nil, present)
	} else if before := handled.(*unstructured.Unstructured); before.GetGeneration() != present.GetGeneration() {
		err = h.update(ctx, before, present)
	}
	if err == nil {
		h.handled.Store(req.Key, present)
	}
	return result, err
}
