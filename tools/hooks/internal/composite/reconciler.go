package composite

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/connect"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

// Reconciler returns the reconciler of the parents of a definition, whose hooks are called by HTTP as the definition
// says: for Operator.DriveKinds. It reads the certificates and credentials that the definition names, once. See New for
// errors.
func Reconciler(ctx context.Context, env watch.Env, of *definition.Composite) (watch.Reconciler, error) {
	view, ok := env.Manager.View().(deploy.KindView)
	if !ok {
		return nil, errors.New("the View of the manager doesn't know which kinds are served: use package cluster")
	}
	hooks, err := Webhooks(ctx, env.Manager.Port(), of)
	if err != nil {
		return nil, fmt.Errorf("CompositeController %s: %w", of.Object.GetName(), err)
	}
	controller, err := New(ctx, of, view.Kinds, hooks)
	if err != nil {
		return nil, err
	}
	return controller.Reconciler(ctx, env)
}

// Webhooks returns the hooks of a definition, as it says that they are called.
func Webhooks(ctx context.Context, from connect.Reader, of *definition.Composite) (hooks Hooks, err error) {
	var errs []error
	caller := func(hook *definition.Hook) Caller {
		if hook == nil {
			return nil
		}
		made, err := connect.Webhook(ctx, from, &of.Spec.Common, hook)
		errs = append(errs, err)
		return made
	}
	named := of.Spec.Hooks
	hooks = Hooks{Sync: caller(named.Sync), Finalize: caller(named.Finalize), Customize: caller(named.Customize)}
	return hooks, errors.Join(errs...)
}
