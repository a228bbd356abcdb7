package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rollout deploys the session's components in the order of their dependencies and then
// verifies those that were deployed (spec: reconcile 24-32, dag 35-40).
func (s *Session) rollout(ctx context.Context, concurrency int, observe func(*Component, deploy.Results)) (Outcome, error) {
	graph, err := s.graph()
	if err != nil {
		return Outcome{}, err
	}
	bound := dag.Concurrency(concurrency)
	options := []dag.Option{bound}
	if s.dryRun {
		options = append(options, dag.WithoutPredicates())
	}
	deployed, err := dag.Run(ctx, graph, func(ctx context.Context, _ string, c *Component) error {
		results, err := s.deploy(ctx, c)
		if observe != nil {
			observe(c, results)
		}
		return asOutcome(err)
	}, options...)
	if err != nil {
		return newOutcome(graph, deployed, nil), err
	}
	for _, names := range [][]string{deployed.Unverified(), deployed.Failed(), deployed.Unstarted()} {
		for _, name := range names {
			graph.Disable(name)
		}
	}
	// Gates are about deploying: what is deployed is judged whatever they say by now.
	verified, err := dag.Run(ctx, graph, func(ctx context.Context, _ string, c *Component) error {
		return asOutcome(s.verifyDeployed(ctx, c))
	}, bound, dag.WithoutPredicates())
	return newOutcome(graph, deployed, &verified), err
}

// graph is the dependency graph of the components; the error holds every mistake of Setup.
func (s *Session) graph() (*dag.Graph[*Component], error) {
	errs := append(slices.Clone(s.mistakes), s.shared()...)
	graph := dag.New[*Component]()
	for _, c := range s.components {
		// What it refuses, no name and one that is taken, is among the mistakes already.
		_ = graph.Add(c.name, c)
	}
	for _, c := range s.components {
		for _, up := range c.upstreams {
			if err := depend(graph, c, up); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &classified{class: classRollout, err: err}
	}
	return graph, nil
}

// shared finds objects that are there more than once: each would undo what the other wrote,
// with every reconcile anew. The versions of a kind are the same objects.
func (s *Session) shared() (errs []error) {
	type identity struct {
		kind            schema.GroupKind
		namespace, name string
	}
	holders := map[identity]*Component{}
	for _, c := range s.components {
		for _, obj := range c.objects {
			ref := deploy.RefOf(obj)
			id := identity{ref.Kind.GroupKind(), cmp.Or(ref.Namespace, s.Namespace()), ref.Name}
			switch holder := holders[id]; {
			case ref.Name == "":
			case holder == nil:
				holders[id] = c
			case holder == c:
				errs = append(errs, fmt.Errorf("component %s: %s is in it twice", c.name, ref))
			default:
				errs = append(errs, fmt.Errorf("component %s: %s is in component %s already: leave it out of one", c.name, ref, holder.name))
			}
		}
	}
	return errs
}

func depend(graph *dag.Graph[*Component], c *Component, up *upstream) error {
	if up.component.session != c.session {
		return fmt.Errorf("component %s: waits for %s, which belongs to another session", c.name, up.component.name)
	}
	// A disabled component deploys nothing that could be waited for (spec: reconcile 9).
	if up.component.disabled || c.disabled {
		which := up.component.name
		if c.disabled {
			which = c.name
		}
		return fmt.Errorf("component %s: waits for %s although %s is disabled: leave that dependency out then",
			c.name, up.component.name, which)
	}
	var edge []dag.EdgeOption
	if len(up.gates) > 0 {
		edge = append(edge, dag.When(up.open))
	}
	if err := graph.Depend(c.name, up.component.name, edge...); err != nil {
		return fmt.Errorf("component %s: %w", c.name, err)
	}
	return nil
}

// deploy applies the objects of c, or deletes them when it is disabled.
func (s *Session) deploy(ctx context.Context, c *Component) (deploy.Results, error) {
	if c.disabled {
		return s.remove(ctx, c.objects)
	}
	for _, kind := range kindsOf(c.objects) {
		if err := s.own(ctx, kind); err != nil {
			return nil, err
		}
	}
	return s.manager.Apply(ctx, c.objects, deploy.OwnedBy(s.resource), deploy.StopOnFailure())
}

// verifyDeployed tells whether a deployed component is ready. In a dry run it is, and so is
// a disabled one (spec: reconcile 16, mistake 1).
func (s *Session) verifyDeployed(ctx context.Context, c *Component) error {
	if s.dryRun || c.disabled {
		return nil
	}
	verdict, err := s.verify(ctx, c)
	if err != nil {
		return err
	}
	return verdict.err()
}

// asOutcome tells the graph runner an expected error, after which the component merely
// waits, from a failure.
func asOutcome(err error) error {
	if err != nil && classOf(err) <= classVerification {
		return dag.Unverified(err)
	}
	return err
}
