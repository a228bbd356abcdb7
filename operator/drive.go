package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// latePatcher is the Patcher of reconcilers that are made before the controller of patches, because only they know
// which kinds are patched.
type latePatcher struct {
	// kinds are the kinds that are patched.
	kinds []schema.GroupVersionKind
	// patches is set before the first reconcile.
	patches *temporarypatch.Controller
}

// Patches implements patching.Patcher.
func (l *latePatcher) Patches(ctx context.Context, target patching.Target) ([]patching.Patch, error) {
	if l.patches == nil {
		return nil, nil
	}
	return l.patches.Patches(ctx, target)
}

// Drive adds a controller of any style. Its reconciler gets what every controller has: the namespaces and the filter of
// the settings, leadership, metrics, probes, retries, and a shutdown in good order. If it is a standing.Provider, the
// metrics include how its resources stand. The commands status and trigger work for its resources, and so do pause and
// resume if it leaves paused resources alone (package pause), and release for the finalizers that package finalizer
// names; the commands that render components leave its kind out. Mistakes are reported when the operator starts.
//
// A watch.Env doesn't have the settings. The values of Flags are set before the reconciler is made, and a function of
// Startup gets the others in its Process.
func (o *Operator) Drive(c watch.Controller) {
	var one controller
	if c != nil {
		one = controller{kind: c.Kind(), driven: c}
	}
	o.controllers = append(o.controllers, one)
}

// controller is a kind with what reconciles it.
type controller struct {
	kind schema.GroupVersionKind
	// sessions is set for a kind that Control added, and options are those of its reconciler.
	sessions reconcile.Controller
	options  []reconcile.Option
	// driven is set for a kind that Drive added.
	driven watch.Controller
}

func (c controller) check() error {
	switch {
	case c.sessions == nil && c.driven == nil:
		return errors.New("nil controller: pass a controller to Control or Drive")
	case c.kind.Kind == "" || c.kind.Version == "":
		return fmt.Errorf("%s: its kind %q needs a version and a kind", c, c.kind)
	}
	return nil
}

// String returns how errors call it.
func (c controller) String() string {
	if c.sessions == nil {
		return "reconciler of " + c.kind.Kind
	}
	return fmt.Sprintf("controller %T", c.sessions)
}

// newReconcilers makes the reconcilers of controllers, in their order, and the controller of the patches for their
// resources, nil if patches are off.
func (r *runner) newReconcilers(ctx context.Context, all []controller, manager *deploy.Manager) ([]watch.Reconciler, *temporarypatch.Controller, error) {
	made := make([]watch.Reconciler, len(all))
	var late latePatcher
	var err error
	for i, c := range all {
		if c.sessions != nil {
			continue
		}
		if made[i], err = r.drive(ctx, c, manager, &late); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c, err)
		}
	}
	if late.patches, err = r.operator.newPatches(manager, late.kinds...); err != nil {
		return nil, nil, err
	}
	for i, c := range all {
		if c.sessions == nil {
			continue
		}
		if made[i], err = r.reconciler(ctx, c.kind, manager, patchedBy(late.patches)...); err != nil {
			return nil, nil, err
		}
	}
	return made, late.patches, nil
}

// drive makes the reconciler of a controller that Drive added.
func (r *runner) drive(ctx context.Context, c controller, manager *deploy.Manager, late *latePatcher) (watch.Reconciler, error) {
	env := r.env(manager)
	if !r.operator.patchesOff {
		env.Patches = func() patching.Patcher {
			if !slices.Contains(late.kinds, c.kind) {
				late.kinds = append(late.kinds, c.kind)
			}
			return late
		}
	}
	return made(r.logger, "its method Reconciler", func() (watch.Reconciler, error) { return c.driven.Reconciler(ctx, env) })
}

// env returns the Env for a reconciler that applies through manager.
func (r *runner) env(manager *deploy.Manager) watch.Env {
	return watch.Env{
		Manager: manager, Watcher: r.watcher, Logger: r.logger, Events: r.events, Now: time.Now,
		Patches: func() patching.Patcher { return nil }, Readiness: judged(),
	}
}

// made calls build, which errors call name. A panic is an error.
func made(logger *slog.Logger, name string, build func() (watch.Reconciler, error)) (reconciler watch.Reconciler, err error) {
	err = guard(func() (err error) {
		reconciler, err = build()
		return err
	})
	logPanic(logger, err)
	if err == nil && reconciler == nil {
		err = fmt.Errorf("%s returned nil", name)
	}
	return reconciler, err
}
