package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/finalizer"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// finalizers returns the names of the operator's own finalizers of a kind that it controls, as the reconciler of the
// kind knows them.
func (p *process) finalizers(ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager) ([]string, error) {
	at := slices.IndexFunc(p.operator.controllers, func(c controller) bool { return c.driven != nil && c.kind == kind })
	if at < 0 {
		reconciler, err := p.reconciler(ctx, kind, manager)
		if err != nil {
			return nil, err
		}
		return reconciler.Finalizers(), nil
	}
	c := p.operator.controllers[at]
	reconciler, err := made(p.logger, "its method Reconciler", func() (watch.Reconciler, error) {
		return c.driven.Reconciler(ctx, watch.Env{
			Manager: manager, Watcher: noWatcher{}, Logger: p.logger, Now: time.Now,
			Patches: func() patching.Patcher { return nil }, Readiness: judged(),
		})
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	if own, is := reconciler.(finalizer.Provider); is {
		return own.Finalizers(), nil
	}
	return finalizer.Names(kind), nil
}

// noWatcher watches nothing, for a reconciler that isn't run.
type noWatcher struct{}

var _ source.Watcher = noWatcher{}

func (noWatcher) Own(context.Context, schema.GroupVersionKind, schema.GroupVersionKind) error {
	return nil
}

func (noWatcher) Follow(context.Context, deploy.Ref, deploy.Ref) error { return nil }

func (noWatcher) FollowAll(context.Context, deploy.Ref, schema.GroupVersionKind, string, labels.Selector) error {
	return nil
}
