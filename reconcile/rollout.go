package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
)

// rollout deploys the components in the order of their dependencies, verifies the deployed components, and calls the
// hooks.
func (s *Session) rollout(ctx context.Context) (Outcome, error) {
	r := s.reconciler
	graph, err := s.graph()
	if err != nil {
		return Outcome{}, err
	}
	s.rolling.begin()
	bound := dag.Concurrency(r.options.concurrency)
	if len(s.components) == 1 || s.dryRun {
		bound = dag.Concurrency(0) // no goroutines
	}
	options := []dag.Option{bound, dag.PollInterval(gateInterval)}
	if s.dryRun {
		options = append(options, dag.WithoutPredicates())
	}
	deployed, err := dag.Run(ctx, graph, func(ctx context.Context, _ string, c *Component) error {
		err := r.options.through(ctx, c, Deploying, func(ctx context.Context) error { return s.deploy(ctx, c) })
		for _, observe := range r.options.observers {
			observe(c, c.results)
		}
		return asOutcome(err)
	}, options...)
	if err != nil {
		return newOutcome(graph, deployed, nil), err
	}
	hookErr := s.afterDeploy(ctx, newOutcome(graph, deployed, nil))
	for _, names := range [][]string{deployed.Unverified(), deployed.Failed(), deployed.Unstarted()} {
		for _, name := range names {
			graph.Disable(name)
		}
	}
	// Gates only delay the deployment: deployed components are verified even if a gate has closed since.
	verified, err := dag.Run(ctx, graph, func(ctx context.Context, _ string, c *Component) error {
		return asOutcome(r.options.through(ctx, c, Verifying, func(ctx context.Context) error { return s.verifyDeployed(ctx, c) }))
	}, bound, dag.WithoutPredicates())
	outcome := newOutcome(graph, deployed, &verified)
	if outcome.Hook = hookErr; hookErr == nil && err == nil {
		outcome.Hook = s.afterVerify(ctx, outcome)
	}
	return outcome, err
}

// graph returns the dependency graph of the components. The error joins every mistake of Setup.
func (s *Session) graph() (*dag.Graph[*Component], error) {
	var errs []error
	for _, c := range s.components {
		for _, err := range c.mistakes {
			if c.name != "" {
				err = fmt.Errorf("component %s: %w", c.name, err)
			}
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.shared()...)
	graph := dag.New[*Component]()
	for _, c := range s.components {
		// An empty or duplicate name is already among the mistakes.
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
		return nil, mistake(err)
	}
	return graph, nil
}

// shared returns an error for each object that was added more than once. Objects of Builders aren't known yet.
func (s *Session) shared() (errs []error) {
	for _, c := range s.components {
		for _, o := range c.objects {
			if err := s.register(o, o.ref); err != nil {
				errs = append(errs, fmt.Errorf("component %s: %w", c.name, err))
			}
		}
	}
	return errs
}

func depend(graph *dag.Graph[*Component], c *Component, up *upstream) error {
	if up.component.session != c.session {
		return fmt.Errorf("component %s: waits for %s, which belongs to another session", c.name, up.component.name)
	}
	// A disabled component deploys nothing that another component could wait for.
	if up.component.disabled || c.disabled {
		which := up.component.name
		if c.disabled {
			which = c.name
		}
		return fmt.Errorf("component %s: waits for %s although %s is disabled: remove that dependency",
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

// deploy deploys c, or removes it when it is disabled.
func (s *Session) deploy(ctx context.Context, c *Component) error {
	rendered, err := s.render(ctx, c)
	if err != nil {
		return err
	}
	deployer, deploys := c.builder.(Deployer)
	disabler, disables := c.builder.(Disabler)
	switch {
	case c.disabled && disables:
		return s.withMistakes(failure.Guard(func() error { return disabler.Disable(ctx, s, c) }))
	case c.disabled:
		return c.Remove(ctx)
	}
	later, err := s.ownKinds(ctx, rendered)
	if err != nil {
		return err
	}
	if err := s.recordKinds(ctx, rendered.kinds); err != nil {
		return err
	}
	if deploys {
		err = s.withMistakes(failure.Guard(func() error { return deployer.Deploy(ctx, s, c) }))
	} else {
		err = c.Apply(ctx)
	}
	for _, kind := range later {
		if err == nil {
			err = s.Own(ctx, kind)
		}
	}
	return err
}

// Apply deploys the objects of c in order, up to the first that fails. It is for a Builder that is a Deployer.
func (c *Component) Apply(ctx context.Context) error {
	s := c.session
	rendered, err := s.render(ctx, c)
	if err != nil {
		return err
	}
	options := []deploy.Option{deploy.StopOnFailure()}
	if rendered.deferred {
		options = append(options, deploy.Contents(rendered.content))
	}
	c.results, err = s.manager.Apply(ctx, rendered.contents, options...)
	for _, result := range c.results {
		if len(result.Rewritten) > 0 && !s.dryRun {
			s.logger.Info("the cluster stored other values than were applied", "component", c.name, "object", result.Ref.String(), "changes", rewritten(result))
		}
	}
	return err
}

// Remove deletes the objects of c that the resource owns, the last one first. It returns nil when they are gone, and
// request.Precondition until then. A component on which Finalize calls Remove isn't rolled out.
func (c *Component) Remove(ctx context.Context) error {
	if !c.session.rolling.hasBegun() {
		c.removed = true
	}
	rendered, err := c.session.render(ctx, c)
	if err != nil {
		return err
	}
	c.results, err = c.session.removeAll(ctx, rendered.contents)
	return err
}

// verifyDeployed verifies a deployed component. In a dry run every component counts as ready. A disabled component is
// always ready: its objects are gone.
func (s *Session) verifyDeployed(ctx context.Context, c *Component) error {
	if s.dryRun || c.disabled {
		return nil
	}
	if verifier, ok := c.builder.(Verifier); ok {
		return s.withMistakes(failure.Guard(func() error { return verifier.Verify(ctx, s, c) }))
	}
	return c.Verify(ctx)
}

// asOutcome marks an error that means waiting, so that dag counts the component as unverified, not as failed.
func asOutcome(err error) error {
	if request.IsWaiting(err) {
		return dag.Unverified(err)
	}
	return err
}

// rolling records that the rollout has begun. From then on components can't be added or changed: a Build or a hook that
// tries that fails.
type rolling struct {
	mu       sync.Mutex
	begun    bool
	mistakes []error
}

// begin records that the rollout has begun.
func (r *rolling) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
}

func (r *rolling) hasBegun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}

// rejectLate records a mistake if the rollout has begun.
func (s *Session) rejectLate(format string, args ...any) bool {
	if !s.rolling.hasBegun() {
		return false
	}
	s.addMistake(fmt.Errorf(format, args...))
	return true
}

// addMistake records a mistake that was made during the rollout.
func (s *Session) addMistake(mistake error) {
	s.rolling.mu.Lock()
	defer s.rolling.mu.Unlock()
	s.rolling.mistakes = append(s.rolling.mistakes, mistake)
}

// withMistakes returns err joined with the mistakes that a method of a Builder, or a hook, has made.
func (s *Session) withMistakes(err error) error {
	mistakes := errors.Join(s.takeMistakes()...)
	if mistakes == nil {
		return err
	}
	return errors.Join(err, mistake(mistakes))
}

// takeMistakes returns the mistakes since its last call.
func (s *Session) takeMistakes() []error {
	s.rolling.mu.Lock()
	defer s.rolling.mu.Unlock()
	mistakes := s.rolling.mistakes
	s.rolling.mistakes = nil
	return mistakes
}

// afterDeploy calls AfterDeploy or AfterIncomplete.
func (s *Session) afterDeploy(ctx context.Context, o Outcome) error {
	if !o.Deployed() {
		return s.afterIncomplete(ctx, o)
	}
	return hooked(s, "after the deployment", func(c AfterDeployer) error { return c.AfterDeploy(ctx, s, o) })
}

// afterVerify calls AfterVerify, or AfterIncomplete if a component isn't ready. If a component wasn't deployed, it does
// nothing, because afterDeploy has called AfterIncomplete already.
func (s *Session) afterVerify(ctx context.Context, o Outcome) error {
	switch {
	case !o.Deployed():
		return nil
	case !o.Complete():
		return s.afterIncomplete(ctx, o)
	}
	return hooked(s, "after the verification", func(c AfterVerifier) error { return c.AfterVerify(ctx, s, o) })
}

func (s *Session) afterIncomplete(ctx context.Context, o Outcome) error {
	return hooked(s, "after the incomplete rollout", func(c AfterIncompleter) error {
		return c.AfterIncomplete(ctx, s, o)
	})
}

// requeue calls the controller's Requeue. usual is the time until the next reconcile if Requeue returns zero.
func (r *Reconciler) requeue(ctx context.Context, hook Requeuer, s *Session, o Outcome, usual time.Duration) (request.Result, error) {
	after, err := failure.Value(func() (time.Duration, error) { return hook.Requeue(ctx, s, o) })
	if late := s.fields.Err(); late != nil {
		err = errors.Join(err, mistake(late))
	}
	switch {
	case request.IsWaiting(err):
		return request.Result{RequeueAfter: o.retryTime(r.options.recheck, err)}, nil
	case err != nil:
		return request.Result{}, fmt.Errorf("requeue: %w", err)
	case after == 0:
		after = usual
	}
	return request.Result{RequeueAfter: max(after, 0)}, nil
}

// hooked calls a hook of the controller, if it has the hook.
func hooked[Hook any](s *Session, when string, call func(Hook) error) error {
	hook, ok := s.reconciler.controller.(Hook)
	if !ok {
		return nil
	}
	err := failure.Guard(func() error { return call(hook) })
	if err != nil {
		err = fmt.Errorf("%s: %w", when, err)
	}
	return s.withMistakes(err)
}
