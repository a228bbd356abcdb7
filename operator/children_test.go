package operator_test

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// children is a style without sessions, as roperator and metacontroller have it: a function returns the children of a
// parent, which are applied; those that it no longer returns are deleted.
type children struct {
	standing.Book
	env     watch.Env
	patches patching.Patcher
	// of are the children of a parent, and kinds the kinds that they may have.
	of    func(parent *unstructured.Unstructured) []*unstructured.Unstructured
	kinds []schema.GroupVersionKind

	mu sync.Mutex
	// created are the parents whose creation was observed.
	created []string
}

func (c *children) Sources() (sources source.Sources) {
	for _, kind := range c.kinds {
		sources.Owned = append(sources.Owned, source.Owned{Kind: kind})
	}
	return sources
}

func (c *children) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	parent, err := c.env.Manager.View().Get(ctx, req.Key)
	if err != nil {
		return result, err
	}
	if parent == nil {
		c.Forget(req.Key)
		return result, nil
	}
	if p := pause.Of(parent, c.env.Manager.KeyDomain(), c.env.Now()); p.Paused {
		c.Set(req.Key, standing.Paused)
		return request.Result{RequeueAfter: p.Left(c.env.Now())}, nil
	}
	defer func() { c.Set(req.Key, standing.After(parent, true, err)) }()
	if parent.GetDeletionTimestamp() != nil {
		return result, nil // the garbage collector deletes the children
	}
	return result, c.apply(ctx, parent)
}

func (c *children) apply(ctx context.Context, parent *unstructured.Unstructured) error {
	manager, err := c.env.Manager.With(deploy.OwnedBy(parent), deploy.RetryFor(0))
	if err != nil {
		return err
	}
	target := patching.Target{Resource: parent, View: manager.View(), Logger: c.env.Logger}
	objects, err := patching.Objects(ctx, c.patches, target, "children", c.of(parent))
	if err != nil {
		return err
	}
	wanted := map[deploy.Ref]bool{}
	for _, child := range objects {
		wanted[deploy.RefOf(child)] = true
	}
	if _, err := manager.Apply(ctx, objects); err != nil {
		return err
	}
	surplus, err := manager.Owned(ctx, c.kinds, func(ref deploy.Ref) bool { return wanted[ref] })
	if err == nil {
		_, err = manager.Delete(ctx, surplus)
	}
	return err
}

func (c *children) Observe(event deploy.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if event.Type == deploy.Added {
		c.created = append(c.created, event.New.GetName())
	}
}

func (c *children) observed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.created...)
}
