package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/connect"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

// Reconciler returns the reconciler of one kind of parents of a definition, whose hooks are called as the definition
// says: for Operator.DriveKinds. It reads the certificates and credentials that the definition names, once. Children
// are applied with a field manager of the definition, so that definitions with the same parents tell their children
// apart. See New for errors.
func Reconciler(ctx context.Context, env watch.Env, of *definition.Controller, parents definition.ParentRule) (watch.Reconciler, error) {
	view, ok := env.Manager.View().(deploy.KindView)
	if !ok {
		return nil, errors.New("the View of the manager doesn't know which kinds are served: use package cluster")
	}
	hooks, err := Callers(ctx, env.Manager.Port(), of)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.Name(), err)
	}
	controller, err := New(ctx, of, parents, view.Kinds, hooks)
	if err != nil {
		return nil, err
	}
	if env.Manager, err = env.Manager.With(deploy.FieldManager(fieldManager(env.Manager.FieldManager(), of))); err != nil {
		return nil, fmt.Errorf("%s: %w", of.Name(), err)
	}
	return controller.Reconciler(ctx, env)
}

// longestManager is the longest name of a field manager that the API server accepts, in bytes.
const longestManager = 128

// fieldManager returns the name of the field manager of a definition, such as hooks/CompositeController/cats.
func fieldManager(operator string, of *definition.Controller) string {
	name := operator + "/" + string(of.Style) + "/" + of.Object.GetName()
	if len(name) <= longestManager {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:8])
	return name[:longestManager-len(suffix)] + suffix
}

// Callers returns the hooks of a definition, as it says that they are called.
func Callers(ctx context.Context, from connect.Reader, of *definition.Controller) (hooks Hooks, err error) {
	var errs []error
	caller := func(name string, hook *definition.Hook) Caller {
		if hook == nil {
			return nil
		}
		made, err := connect.Hook(ctx, from, of, hook)
		if err != nil {
			errs = append(errs, fmt.Errorf("hook %s: %w", name, err))
		}
		return made
	}
	hooks = Hooks{
		Sync: caller("sync", of.Hooks.Sync), Finalize: caller("finalize", of.Hooks.Finalize), Customize: caller("customize", of.Hooks.Customize),
	}
	return hooks, errors.Join(errs...)
}
