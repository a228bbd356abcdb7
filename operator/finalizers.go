package operator

import (
	"context"
	"errors"
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
// kind knows them. The kind may be one that DriveKinds finds in the cluster of manager.
func (p *process) finalizers(ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager) ([]string, error) {
	at := slices.IndexFunc(p.operator.controllers, func(c controller) bool { return c.kind == kind })
	if at < 0 {
		return p.finalizersFound(ctx, kind, manager)
	}
	c := p.operator.controllers[at]
	if c.sessions != nil {
		reconciler, err := p.reconciler(ctx, kind, manager)
		if err != nil {
			return nil, err
		}
		return reconciler.Finalizers(), nil
	}
	own, err := p.finalizersOf(kind, "its method Reconciler", func() (watch.Reconciler, error) { return c.driven.Reconciler(ctx, p.idle(manager)) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	return own, nil
}

// finalizersFound is finalizers for a kind of DriveKinds. If several selectors have the kind, it returns the names of
// all of their reconcilers.
func (p *process) finalizersFound(ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager) (own []string, err error) {
	view, knows := manager.View().(deploy.KindView)
	if !knows {
		return finalizer.Names(kind), nil
	}
	served, unknown := view.Kinds(ctx)
	for i, selector := range p.operator.selectors() {
		for _, one := range selector.Select(served) {
			if one.Kind != kind {
				continue
			}
			if selector.Finalizers != nil {
				own = append(append([]string{}, own...), selector.Finalizers(one)...)
				continue
			}
			names, err := p.finalizersOf(kind, "the function of DriveKinds", func() (watch.Reconciler, error) {
				return p.operator.selected[i].build(ctx, p.idle(manager), one)
			})
			if err != nil {
				return nil, fmt.Errorf("reconciler of %s: %w", kind.Kind, err)
			}
			own = append(own, names...)
		}
	}
	if own == nil {
		return nil, errors.Join(fmt.Errorf("reconciler of %s: the operator has none", kind.Kind), unknown)
	}
	return own, nil
}

// finalizersOf returns the names that the reconciler of build has, or those that each operator has for a kind.
func (p *process) finalizersOf(kind schema.GroupVersionKind, name string, build func() (watch.Reconciler, error)) ([]string, error) {
	reconciler, err := made(p.logger, name, build)
	if err != nil {
		return nil, err
	}
	if own, is := reconciler.(finalizer.Provider); is {
		return append([]string{}, own.Finalizers()...), nil
	}
	return finalizer.Names(kind), nil
}

// idle is the Env of a reconciler that isn't run.
func (p *process) idle(manager *deploy.Manager) watch.Env {
	return watch.Env{
		Manager: manager, Watcher: noWatcher{}, Logger: p.logger, Now: time.Now,
		Patches: func() patching.Patcher { return nil }, Readiness: judged(),
	}
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
