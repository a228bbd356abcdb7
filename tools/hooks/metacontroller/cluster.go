package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

// EventInvalid is the reason of a warning about a definition that has a mistake. Its controller doesn't run.
const EventInvalid = "InvalidDefinition"

// Definitions selects the kinds of definitions that are objects of the cluster: for Operator.DriveKinds, together with
// Controllers.Definition. There are none as long as the cluster doesn't serve these kinds.
func Definitions() kinds.Selector {
	return kinds.Selector{
		Group: definition.GroupVersion.Group, Version: definition.GroupVersion.Version,
		Where: func(kind deploy.ServedKind) bool {
			return kind.Kind.Kind == string(definition.Composite) || kind.Kind.Kind == string(definition.Decorator)
		},
	}
}

// Definition returns the reconciler of definitions that are objects of the cluster, for Operator.DriveKinds: their
// controllers are added, changed and removed as they are. A definition with a mistake has no controller; the mistake is
// an event of the definition, and an error in the log. Hooks that are programs are a mistake: whoever may write
// definitions must not run programs beside the operator.
//
// Finalizers stay on the parents of a controller that is removed: delete the parents, or restore the definition.
func (c *Controllers) Definition(_ context.Context, env watch.Env, _ deploy.ServedKind) (watch.Reconciler, error) {
	return &definitions{c, env}, nil
}

// ReadCluster adds the definitions that are objects of the cluster as they are now, for a command that doesn't run: for
// operator.Prepare. A cluster that doesn't serve their kinds has none. A definition with a mistake is left out, and
// mistakes names each of them.
func (c *Controllers) ReadCluster(ctx context.Context, port deploy.Port) (mistakes, err error) {
	var errs []error
	for _, style := range []definition.Style{definition.Composite, definition.Decorator} {
		all, err := port.List(ctx, definition.GroupVersion.WithKind(string(style)), "", deploy.ListOptions{})
		var unknown *deploy.KindUnknownError
		if err != nil && !errors.As(err, &unknown) {
			return nil, err
		}
		for _, obj := range all {
			found, err := definition.New(obj)
			if err == nil {
				err = c.put(deploy.RefOf(obj), found)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...), nil
}

// definitions reconciles definitions.
type definitions struct {
	controllers *Controllers
	env         watch.Env
}

// Reconcile implements watch.Reconciler.
func (d *definitions) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	obj, err := d.env.Manager.View().Get(ctx, req.Key)
	if err != nil {
		return request.Result{}, err
	}
	if obj == nil {
		d.controllers.remove(req.Key)
		return request.Result{}, nil
	}
	found, err := definition.New(obj.DeepCopy())
	if err == nil {
		err = checkHooks(found)
	}
	if err != nil {
		err = request.Permanent(err)
	} else {
		err = d.controllers.put(req.Key, found) // another definition may be removed later
	}
	if err == nil {
		d.env.Logger.Info("controller defined", "definition", found.Name())
		return request.Result{}, nil
	}
	d.controllers.remove(req.Key)
	if d.env.Events != nil {
		d.env.Events.Record(event.Event{Regarding: event.Of(obj), Type: event.Warning, Reason: EventInvalid, Note: err.Error()})
	}
	return request.Result{}, err
}

// Rights implements watch.RightsProvider.
func (d *definitions) Rights() (rights []deploy.Right) {
	for _, style := range []definition.Style{definition.Composite, definition.Decorator} {
		rights = append(rights, deploy.Right{Kind: definition.GroupVersion.WithKind(string(style)), Verbs: []string{"get", "list", "watch"}})
	}
	return rights
}

// checkHooks returns an error for hooks that a definition in the cluster can't have.
func checkHooks(of *definition.Controller) error {
	var errs []error
	for _, one := range []struct {
		name string
		hook *definition.Hook
	}{{"sync", of.Hooks.Sync}, {"finalize", of.Hooks.Finalize}, {"customize", of.Hooks.Customize}} {
		if one.hook != nil && one.hook.Exec != nil {
			errs = append(errs, fmt.Errorf("%s: spec.hooks.%s.exec: only the definition in a file may run a program: use a webhook, or --definitions", of.Name(), one.name))
		}
	}
	return errors.Join(errs...)
}

// put sets the definition that is an object. It returns an error if another one has its parents or its name.
func (c *Controllers) put(ref deploy.Ref, one *definition.Controller) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := slices.Clone(c.files)
	for at, other := range c.objects {
		if at != ref {
			others = append(others, other)
		}
	}
	for _, other := range others {
		if other.Name() == one.Name() {
			return fmt.Errorf("%s: a file defines it, too: remove one of the definitions", one.Name())
		}
	}
	if err := checkParents(one, others); err != nil {
		return err
	}
	if c.objects == nil {
		c.objects = map[deploy.Ref]*definition.Controller{}
	}
	c.objects[ref] = one
	c.notify()
	return nil
}

// remove removes the definition that was an object, if there is one.
func (c *Controllers) remove(ref deploy.Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects[ref] != nil {
		delete(c.objects, ref)
		c.notify()
	}
}

// changes returns the channel on which something comes after the definitions have changed.
func (c *Controllers) changes() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{}, 1)
	}
	return c.changed
}

// notify tells whoever looks that the definitions have changed. The caller holds mu.
func (c *Controllers) notify() {
	select {
	case c.changed <- struct{}{}:
	default: // nobody looks, or whoever looks is about to do so
	}
}
