package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Plan is what a reconcile of a resource would do.
type Plan struct {
	// Resource is the resource as it is. It is shared: don't change it.
	Resource *unstructured.Unstructured
	// Components are the components, in an order in which they may be deployed.
	Components []PlannedComponent
	// Pruned are the objects that no component renders any more: they would be deleted. There are none while a component
	// waits, because objects are pruned once every component is deployed.
	Pruned deploy.Differences
	// Graph is the dependency graph of the components. Disabled components are disabled nodes of it.
	Graph *dag.Graph[*Component]
}

// PlannedComponent is one component of a Plan.
type PlannedComponent struct {
	// Component is the component of the session.
	Component *Component
	// Waits is why the component wouldn't be deployed now: a gate is closed. It is empty if the component would be
	// deployed. A component that waits is neither rendered nor compared.
	Waits string
	// Differences are the changes to the objects of the component by its deployment or, if it is disabled, by its
	// removal. Changes that a Deployer makes in another way than Component.Apply aren't included.
	Differences deploy.Differences
	// Err is why the component couldn't be rendered.
	Err error
}

// Changed reports whether anything would change in the cluster.
func (p *Plan) Changed() bool {
	return p.Pruned.Changed() || slices.ContainsFunc(p.Components, func(c PlannedComponent) bool { return c.Differences.Changed() })
}

// Err joins the errors of all components, each with the name of its component; nil if there are no errors.
func (p *Plan) Err() error {
	var errs []error
	for _, c := range p.Components {
		if err := errors.Join(c.Err, c.Differences.Err()); err != nil {
			errs = append(errs, fmt.Errorf("component %s: %w", c.Component.name, err))
		}
	}
	return errors.Join(append(errs, p.Pruned.Err())...)
}

// PlanOption is an option of Reconciler.Plan.
type PlanOption func(*planOptions)

type planOptions struct{ openGates bool }

// OpenGates plans as if all gates were open: the plan has everything that this reconcile and later ones would change,
// including what is pruned in the end. Gates aren't called.
func OpenGates() PlanOption { return func(o *planOptions) { o.openGates = true } }

// Plan returns what Reconcile would do now for resource, even if the resource is paused. It changes nothing: requests to
// the cluster are dry runs. Gates are called; the Gate Ready judges the objects of the upstream component as the cluster
// would have them right after the deployment, so a changed Deployment isn't ready. Session.DryRun is true, so if the
// controller renders other content in a dry run, that is a difference. The resource needs the uid that it has in the
// cluster, or the uid that a dry run returns. The plan doesn't contain the status and the finalizer of the resource, nor
// what hooks do. Errors of components are in the plan.
func (r *Reconciler) Plan(ctx context.Context, resource *unstructured.Unstructured, options ...PlanOption) (*Plan, error) {
	var o planOptions
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	d, err := r.described(ctx, resource)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	s, ctx := d.session, d.Context(ctx)
	plan := &Plan{Resource: resource, Graph: d.graph}
	s.predicted = map[deploy.Ref]*unstructured.Unstructured{}
	waiting := map[*Component]bool{}
	for _, name := range d.graph.Topology() {
		planned := PlannedComponent{Component: s.names[name]}
		if !o.openGates {
			planned.Waits, planned.Err = planned.Component.heldBack(ctx, waiting)
		}
		if planned.Waits == "" && planned.Err == nil {
			planned = s.plan(ctx, planned.Component)
		}
		waiting[planned.Component] = planned.Waits != "" || planned.Err != nil || planned.Differences.Err() != nil
		plan.Components = append(plan.Components, planned)
	}
	if plan.Err() == nil && !plan.waits() {
		plan.Pruned, err = s.planPruning(ctx)
		plan.Pruned = slices.DeleteFunc(plan.Pruned, func(d deploy.Difference) bool { return plan.removes(d.Ref) })
	}
	return plan, err
}

// waits reports whether a component waits.
func (p *Plan) waits() bool {
	return slices.ContainsFunc(p.Components, func(c PlannedComponent) bool { return c.Waits != "" })
}

// removes reports whether a component of the plan removes or deploys the object.
func (p *Plan) removes(ref deploy.Ref) bool {
	return slices.ContainsFunc(p.Components, func(c PlannedComponent) bool {
		return slices.ContainsFunc(c.Differences, func(d deploy.Difference) bool { return d.Ref == ref })
	})
}

// Graph returns the dependency graph of the components of a resource. Disabled components are disabled nodes of it.
// Graph changes nothing.
func (r *Reconciler) Graph(ctx context.Context, resource *unstructured.Unstructured) (*dag.Graph[*Component], error) {
	d, err := r.described(ctx, resource)
	if err != nil {
		return nil, err
	}
	d.Release()
	return d.graph, nil
}

// described describes a resource, without watching anything. Release the Description.
func (r *Reconciler) described(ctx context.Context, resource *unstructured.Unstructured) (*Description, error) {
	if resource.GetDeletionTimestamp() != nil {
		return nil, fmt.Errorf("%s: it is being deleted", deploy.RefOf(resource))
	}
	d, err := r.Describe(ctx, resource, Describing{DryRun: true, unwatched: true})
	switch {
	case err != nil && d != nil:
		d.Release()
	case err == nil:
		for _, c := range d.session.components {
			if c.disabled {
				d.graph.Disable(c.name)
			}
		}
	}
	return d, err
}

// heldBack returns what c waits for, empty for nothing. waiting has the components that wait themselves.
func (c *Component) heldBack(ctx context.Context, waiting map[*Component]bool) (string, error) {
	for _, up := range c.upstreams {
		if waiting[up.component] {
			return "waits for " + up.component.name, nil
		}
		switch open, err := up.open(ctx); {
		case request.IsWaiting(err):
			return err.Error(), nil
		case err != nil:
			return "", err
		case !open:
			return c.waiting(), nil
		}
	}
	return "", nil
}

// plan compares the objects of a component with the cluster, and keeps the objects as they would be afterwards.
func (s *Session) plan(ctx context.Context, c *Component) PlannedComponent {
	planned := PlannedComponent{Component: c}
	rendered, err := s.render(ctx, c)
	if err != nil {
		planned.Err = err
		return planned
	}
	// Errors of single objects are in the differences.
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
	for _, d := range planned.Differences {
		if d.After != nil {
			s.predicted[d.Ref] = d.After
		}
	}
	return planned
}

// withoutForeign drops the differences of objects with another owner, which are left alone.
func withoutForeign(differences deploy.Differences) deploy.Differences {
	return slices.DeleteFunc(differences, func(d deploy.Difference) bool {
		return failure.Is[*deploy.OwnedError](d.Err)
	})
}

// planPruning returns what prune would delete.
func (s *Session) planPruning(ctx context.Context) (deploy.Differences, error) {
	rendered := s.andRendered()
	kinds := withKinds(slices.Clone(rendered), append(s.remembered(), s.reconciler.options.prunes...)...)
	var extra []*unstructured.Unstructured
	for _, kind := range kinds {
		owned, err := s.manager.Owned(ctx, []schema.GroupVersionKind{kind}, s.wanted)
		if isUnknownKind(err) {
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
