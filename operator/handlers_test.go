package operator_test

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	// handledKey is the annotation with the spec that was handled last, holding is the finalizer.
	handledKey = "example.dev/handled"
	holding    = "example.dev/handlers"
)

// handlers is a style without sessions, as kopf has it: a function for each thing that happens to an object, given its
// spec before and after that. The spec that was handled last is kept in an annotation, so that nothing is missed when
// several changes come at once, or while no operator runs; a finalizer holds the object until its deletion is handled.
type handlers struct {
	standing.Book
	env                    watch.Env
	create, update, delete handler
}

// handler handles what has happened to an object. before and after are specs as JSON.
type handler func(ctx context.Context, obj *unstructured.Unstructured, before, after string) error

func (h *handlers) Sources() source.Sources {
	return source.Sources{When: filter.UnlessPaused(h.env.Manager.KeyDomain(), filter.Or(filter.Lifecycle(), filter.Generation()))}
}

func (h *handlers) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	obj, err := h.env.Manager.View().Get(ctx, req.Key)
	if err != nil {
		return result, err
	}
	if obj == nil {
		h.Forget(req.Key)
		return result, nil
	}
	if p := pause.Of(obj, h.env.Manager.KeyDomain(), h.env.Now()); p.Paused {
		h.Set(req.Key, standing.Paused)
		return request.Result{RequeueAfter: p.Left(h.env.Now())}, nil
	}
	defer func() { h.Set(req.Key, standing.After(obj, true, err)) }()
	before, isKnown := obj.GetAnnotations()[handledKey]
	if obj.GetDeletionTimestamp() != nil {
		return result, h.handleDeletion(ctx, obj, before)
	}
	after, err := json.Marshal(obj.Object["spec"])
	if err != nil || isKnown && before == string(after) {
		return result, err
	}
	if err = h.env.Manager.AddFinalizer(ctx, obj, holding); err != nil {
		return result, err
	}
	act := h.update
	if !isKnown {
		act = h.create
	}
	if err = act(ctx, obj, before, string(after)); err != nil {
		return result, err // it is tried again, with the same spec before
	}
	return result, h.remember(ctx, req.Key, string(after))
}

func (h *handlers) handleDeletion(ctx context.Context, obj *unstructured.Unstructured, before string) error {
	if !slices.Contains(obj.GetFinalizers(), holding) {
		return nil
	}
	if err := h.delete(ctx, obj, before, ""); err != nil {
		return err
	}
	return h.env.Manager.RemoveFinalizer(ctx, obj, holding)
}

// remember writes which spec was handled.
func (h *handlers) remember(ctx context.Context, key deploy.Ref, spec string) error {
	_, err := h.env.Manager.Change(ctx, key, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		current = current.DeepCopy()
		current.SetAnnotations(labels.Merge(current.GetAnnotations(), labels.Set{handledKey: spec}))
		return current, nil
	})
	return err
}
