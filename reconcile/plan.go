package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Plan is what a reconcile of a resource would do.
type Plan struct {
	// Resource is the resource as it is. It is shared: don't change it.
	Resource *unstructured.Unstructured
	// Components stand in an order in which they may be deployed.
	Components []PlannedComponent
	// Pruned are the objects that no component renders any more: they would be deleted.
	Pruned deploy.Differences
	// Graph is what waits for what.
	Graph *dag.Graph[*Component]
}

// PlannedComponent is one component of a Plan.
type PlannedComponent struct {
	// Component is the one of the session.
	Component *Component
	// Differences are what its deployment would make of its objects, or its removal if it is disabled. What a Deployer does
	// beside that isn't known.
	Differences deploy.Differences
	// Err is why its objects can't be told.
	Err error
}

// Changed tells whether anything would change in the cluster.
func (p *Plan) Changed() bool {
	return p.Pruned.Changed() || slices.ContainsFunc(p.Components, func(c PlannedComponent) bool { return c.Differences.Changed() })
}

// Err joins the errors of all components, each with its name; nil when there is none.
func (p *Plan) Err() error {
	var errs []error
	for _, c := range p.Components {
		if err := errors.Join(c.Err, c.Differences.Err()); err != nil {
			errs = append(errs, fmt.Errorf("component %s: %w", c.Component.name, err))
		}
	}
	return errors.Join(append(errs, p.Pruned.Err())...)
}

// Plan tells what Reconcile would make of a resource if it were so, with all gates open and also of one that is paused, and changes
// nothing: the cluster is asked by requests that are dry runs. Session.DryRun is true for the controller, so that what it then
// renders otherwise is a difference. The resource has a uid: that of what is in the cluster, or the one that a dry run answers with. Its
// status and its finalizer, and what hooks do, aren't part of it. The error says why there is no plan; those of components are in it.
func (r *Reconciler) Plan(ctx context.Context, resource *unstructured.Unstructured) (*Plan, error) {
	s, ctx, graph, err := r.described(ctx, resource)
	if err != nil {
		return nil, err
	}
	defer s.release()
	s.rolling.begin()
	plan := &Plan{Resource: resource, Graph: graph}
	for _, name := range graph.Topology() {
		plan.Components = append(plan.Components, s.plan(ctx, s.names[name]))
	}
	if plan.Err() == nil {
		plan.Pruned, err = s.planPruning(ctx)
		plan.Pruned = slices.DeleteFunc(plan.Pruned, func(d deploy.Difference) bool { return plan.removes(d.Ref) })
	}
	return plan, err
}

// removes tells whether a disabled component has an object.
func (p *Plan) removes(ref deploy.Ref) bool {
	return slices.ContainsFunc(p.Components, func(c PlannedComponent) bool {
		return slices.ContainsFunc(c.Differences, func(d deploy.Difference) bool { return d.Ref == ref })
	})
}

// Graph tells what components a resource has and what waits for what, and changes nothing.
func (r *Reconciler) Graph(ctx context.Context, resource *unstructured.Unstructured) (*dag.Graph[*Component], error) {
	s, _, graph, err := r.described(ctx, resource)
	if err != nil {
		return nil, err
	}
	s.release()
	return graph, nil
}

// described has the controller describe a resource, for nothing to be done.
func (r *Reconciler) described(ctx context.Context, resource *unstructured.Unstructured) (*Session, context.Context, *dag.Graph[*Component], error) {
	if resource.GroupVersionKind() != r.Kind() {
		return nil, nil, nil, fmt.Errorf("%s: it isn't of the kind %s", deploy.RefOf(resource), r.Kind().Kind)
	}
	if resource.GetDeletionTimestamp() != nil {
		return nil, nil, nil, fmt.Errorf("%s: it is being deleted", deploy.RefOf(resource))
	}
	s, err := r.session(ctx, resource, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	s.dryRun, s.watcher = true, nil
	if s.manager, err = s.manager.With(deploy.DryRun()); err != nil { // also for what Setup does by itself
		return nil, nil, nil, err
	}
	ctx = context.WithValue(ctx, loggerKey{}, s.logger)
	err = r.setup(ctx, s)
	if err == nil {
		var graph *dag.Graph[*Component]
		if graph, err = s.graph(); err == nil {
			return s, ctx, graph, nil
		}
	}
	s.release()
	return nil, nil, nil, err
}

func (s *Session) plan(ctx context.Context, c *Component) PlannedComponent {
	planned := PlannedComponent{Component: c}
	rendered, err := s.render(ctx, c)
	if err != nil {
		planned.Err = err
		return planned
	}
	// What is wrong with single objects is in the differences.
	var failed error
	if c.disabled {
		planned.Differences, failed = s.manager.DiffDelete(ctx, rendered.contents)
		planned.Differences = withoutForeign(planned.Differences)
	} else {
		planned.Differences, failed = s.manager.Diff(ctx, rendered.contents)
	}
	if planned.Differences == nil {
		planned.Err = failed
	}
	return planned
}

// withoutForeign: what is somebody else's is left alone, which is no mistake.
func withoutForeign(differences deploy.Differences) deploy.Differences {
	return slices.DeleteFunc(differences, func(d deploy.Difference) bool {
		var owned *deploy.OwnedError
		return errors.As(d.Err, &owned)
	})
}

// planPruning is prune without deleting anything.
func (s *Session) planPruning(ctx context.Context) (deploy.Differences, error) {
	var rendered []schema.GroupVersionKind
	for _, c := range s.components {
		rendered = withKinds(rendered, c.kinds()...)
	}
	kinds := withKinds(slices.Clone(rendered), append(s.remembered(), s.reconciler.options.prunes...)...)
	var extra []*unstructured.Unstructured
	for _, kind := range kinds {
		owned, err := s.manager.Owned(ctx, []schema.GroupVersionKind{kind}, deploy.Except(s.wanted))
		var unknown *deploy.KindUnknownError
		if errors.As(err, &unknown) {
			continue
		}
		if err != nil && !slices.Contains(rendered, kind) {
			err = s.unlessForbidden(kind, err)
		}
		if err != nil {
			return nil, fmt.Errorf("prune: %w", err)
		}
		for _, obj := range owned {
			known := slices.ContainsFunc(extra, func(other *unstructured.Unstructured) bool { return other.GetUID() == obj.GetUID() })
			if !known && !s.generates(obj) && !s.keeps(kind) {
				extra = append(extra, obj)
			}
		}
	}
	if len(extra) == 0 {
		return nil, nil
	}
	differences, _ := s.manager.DiffDelete(ctx, extra)
	return withoutForeign(differences), nil
}
