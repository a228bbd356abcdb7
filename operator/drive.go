package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Env is what the operator gives to the function that makes a reconciler.
type Env struct {
	watch.Env
	// Config holds the settings.
	Config config.Config
}

// Drive adds a reconciler of any style for the resources of a kind. The command run calls build once, before anything
// is watched. The reconciler gets what every controller has: the namespaces and the filter of the settings, leadership,
// metrics, probes, retries, and a shutdown in good order. If it is a standing.Provider, the metrics include how its
// resources stand. The commands status and trigger work for its resources, and so do pause and resume if it leaves
// paused resources alone (package pause); the commands that render components leave its kind out. Mistakes are reported
// when the operator starts.
func (o *Operator) Drive(kind schema.GroupVersionKind, build func(ctx context.Context, env Env) (watch.Reconciler, error)) {
	o.controllers = append(o.controllers, controller{kind: kind, build: build})
}

// controller is a kind with what reconciles it.
type controller struct {
	kind schema.GroupVersionKind
	// sessions is set for a kind that Control added, and options are those of its reconciler.
	sessions reconcile.Controller
	options  []reconcile.Option
	// build is set for a kind that Drive added.
	build func(ctx context.Context, env Env) (watch.Reconciler, error)
}

func (c controller) check() error {
	switch {
	case c.sessions == nil && c.build == nil && c.kind.Empty():
		return errors.New("nil controller: pass a controller to Control")
	case c.sessions == nil && c.build == nil:
		return fmt.Errorf("%s: nil function: pass one that makes a reconciler to Drive", c)
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

// newReconciler makes the reconciler of a controller for an engine. more are further options for sessions.
func (r *runner) newReconciler(ctx context.Context, c controller, manager *deploy.Manager, more ...reconcile.Option) (watch.Reconciler, error) {
	if c.sessions != nil {
		return r.reconciler(ctx, c.kind, manager, more...)
	}
	env := Env{watch.Env{Manager: manager, Watcher: r.watcher, Logger: r.logger, Events: r.events, Now: time.Now}, r.Config}
	reconciler, err := c.build(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	if reconciler == nil {
		return nil, fmt.Errorf("%s: the function of Drive returned nil", c)
	}
	return reconciler, nil
}

// filtered is a Reconciler with a filter for the events of its own kind.
type filtered struct {
	watch.Reconciler
	sources source.Sources
}

// withFilter applies the filter that the setting watch.filter names, unless the reconciler has one.
func (r *runner) withFilter(reconciler watch.Reconciler) (watch.Reconciler, error) {
	if r.Watch.Filter == "" {
		return reconciler, nil
	}
	sources, err := source.Of(reconciler)
	if err != nil || sources.When != nil {
		return reconciler, err
	}
	sources.When, err = filter.Named(r.Watch.Filter, r.operator.domain())
	return filtered{reconciler, sources}, err
}

// Sources implements source.Provider.
func (f filtered) Sources() source.Sources { return f.sources }

// Observe implements watch.Observer, for a Reconciler that does.
func (f filtered) Observe(event deploy.Event) {
	if observer, ok := f.Reconciler.(watch.Observer); ok {
		observer.Observe(event)
	}
}

// Forget implements watch.Forgetter, for a Reconciler that does.
func (f filtered) Forget(key deploy.Ref) {
	if forgetter, ok := f.Reconciler.(watch.Forgetter); ok {
		forgetter.Forget(key)
	}
}
