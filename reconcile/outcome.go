package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is the state of a component after a rollout.
type State string

// The states of a component.
const (
	// Verified: deployed and ready.
	Verified State = "verified"
	// Unverified: deployed but not ready yet, or waiting for something else than a component.
	Unverified State = "unverified"
	// Failed: the deployment, an object of the component, or a gate that the component waits for has failed.
	Failed State = "failed"
	// Unstarted: not deployed, because the component waits for other components.
	Unstarted State = "unstarted"
	// Disabled: switched off by Component.Disable, and its objects are gone. Until they are gone the component is
	// Unverified, or Failed.
	Disabled State = "disabled"
)

// states are in the order of the constants.
var states = [memory.States]State{Verified, Unverified, Failed, Unstarted, Disabled}

// States returns all states, in the order of the constants.
func States() []State { return slices.Clone(states[:]) }

// stateNames returns the names of all states.
func stateNames() (names []string) {
	for _, state := range states {
		names = append(names, string(state))
	}
	return names
}

// Outcome is the result of a rollout.
type Outcome struct {
	// Components holds every component by name.
	Components map[string]ComponentOutcome
	// Hook is the error of a hook, such as AfterDeploy.
	Hook error
	// kinds are the kinds of the objects, and of former objects that may still exist.
	kinds []schema.GroupVersionKind
	graph *dag.Graph[*Component]
}

// Graph returns the dependency graph as text.
func (o Outcome) Graph() string {
	if o.graph == nil {
		return ""
	}
	return o.graph.String()
}

// done reports whether nothing is left to do for a component in this state.
func (s State) done() bool { return s == Verified || s == Disabled }

// ComponentOutcome is the result of the rollout of one component.
type ComponentOutcome struct {
	// State is the state of the component.
	State State
	// Deployed: the objects of the component were applied, whether or not they are ready.
	Deployed bool
	// Err is why the component is Unverified or Failed; nil in the other states.
	Err error
	// Reason is why the component is Unstarted: which component it waits for.
	Reason string
	// Remark describes what is unusual about ready objects, such as a claim whose volume is being resized.
	Remark string
}

// count returns the number of components in a state.
func (o Outcome) count(state State) (n int) {
	for _, c := range o.Components {
		if c.State == state {
			n++
		}
	}
	return n
}

// Complete reports whether every component is verified or disabled and no hook returned an error. It is true without
// components.
func (o Outcome) Complete() bool {
	if o.Hook != nil {
		return false
	}
	for _, c := range o.Components {
		if !c.State.done() {
			return false
		}
	}
	return true
}

// Deployed reports whether every component was deployed, whether or not it is ready. A disabled component counts as
// deployed when its objects are gone.
func (o Outcome) Deployed() bool {
	for _, c := range o.Components {
		if !c.Deployed {
			return false
		}
	}
	return true
}

// newOutcome combines the two runs of a rollout. A component is verified if the verifying run verified it, failed if it
// failed in either run, unstarted if the deploying run didn't start it, and otherwise unverified. A disabled component
// is disabled as soon as the deploying run has removed it. The argument verified is nil if the verifying run wasn't
// started.
func newOutcome(graph *dag.Graph[*Component], deployed dag.State, verified *dag.State) Outcome {
	outcome := Outcome{Components: map[string]ComponentOutcome{}, graph: graph}
	set := func(run dag.State, names []string, state State, isDeployed bool) {
		for _, name := range names {
			outcome.Components[name] = ComponentOutcome{State: state, Deployed: isDeployed, Err: run.Err(name)}
		}
	}
	set(deployed, deployed.Verified(), Unverified, true)
	for name, c := range outcome.Components {
		if component, _ := graph.Node(name); component.disabled {
			c.State = Disabled
			outcome.Components[name] = c
		}
	}
	set(deployed, deployed.Unverified(), Unverified, false)
	set(deployed, deployed.Failed(), Failed, false)
	for _, name := range deployed.Unstarted() {
		outcome.Components[name] = unstarted(graph, deployed, name)
	}
	if verified == nil {
		return outcome
	}
	set(*verified, verified.Unverified(), Unverified, true)
	set(*verified, verified.Failed(), Failed, true)
	for _, name := range verified.Verified() {
		component, _ := graph.Node(name)
		if component.disabled {
			continue
		}
		remark, _ := component.remark.Load().(string)
		outcome.Components[name] = ComponentOutcome{State: Verified, Deployed: true, Remark: remark}
	}
	return outcome
}

// unstarted returns the outcome of a component that wasn't started. If a gate returned an error, that is an error of
// the component that waits.
func unstarted(graph *dag.Graph[*Component], deployed dag.State, name string) ComponentOutcome {
	if err := deployed.Err(name); err != nil {
		state := Failed
		if request.IsWaiting(err) {
			state = Unverified
		}
		return ComponentOutcome{State: state, Err: err}
	}
	component, _ := graph.Node(name)
	return ComponentOutcome{State: Unstarted, Reason: cmp.Or(component.waiting(), deployed.Reason(name))}
}

// Err joins the errors of failed components and of hooks, the most severe first, each with its component's name; nil
// when none failed. Waiting is no error.
func (o Outcome) Err() error { return o.join(Failed, o.Hook) }

// Waiting joins the errors of unverified components.
func (o Outcome) Waiting() error { return o.join(Unverified) }

// waitsBefore reports whether a component waits for a precondition before its deployment, and no component waits for
// its objects to become ready.
func (o Outcome) waitsBefore() bool {
	waits := false
	for _, c := range o.Components {
		if c.State != Unverified {
			continue
		}
		if c.Deployed || request.ClassOf(c.Err) != status.ErrorPrecondition {
			return false
		}
		waits = true
	}
	return waits
}

// retryTime returns the shortest time that waiting components and the errors in others ask for (request.RetryAfter).
// For an error without a time it uses the time usual.
func (o Outcome) retryTime(usual time.Duration, others ...error) time.Duration {
	soonest := time.Duration(0)
	for _, c := range o.Components {
		if c.State == Unverified {
			soonest = lifecycle.Sooner(soonest, retryTime(c.Err, usual))
		}
	}
	for _, err := range others {
		soonest = lifecycle.Sooner(soonest, retryTime(err, usual))
	}
	return cmp.Or(soonest, usual)
}

// retryTime returns the time that err asks for, or usual.
func retryTime(err error, usual time.Duration) time.Duration {
	if after, ok := request.RetryTime(err); ok && after > 0 {
		return after
	}
	return usual
}

func (o Outcome) join(state State, others ...error) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		if c := o.Components[name]; c.State == state && c.Err != nil {
			errs = append(errs, fmt.Errorf("component %s: %w", name, c.Err))
		}
	}
	errs = append(errs, others...)
	slices.SortStableFunc(errs, func(a, b error) int {
		return request.Severity(request.ClassOf(b)) - request.Severity(request.ClassOf(a))
	})
	return errors.Join(errs...)
}

// Tally implements standing.Provider: it counts the reconciled resources by how their last reconcile ended, and their
// components by State. Resources that are gone, or have left the view, aren't counted, and neither are components that
// weren't rolled out in the last reconcile. A dry run counts no resource.
func (r *Reconciler) Tally() standing.Tally { return r.lifecycle.Tally() }

// complete reports whether nothing is left to do after the reconcile of the session, which has ended without an error.
func (s *Session) complete() bool {
	return s.ended.outcome != nil && s.ended.err == nil && s.ended.outcome.Complete()
}

// count returns what the resource adds to the Tally after a reconcile that ended with err; before is what it added
// before the reconcile.
func (s *Session) count(before memory.Count, err error) memory.Count {
	failure, passes := s.failure(err)
	c := memory.Count{
		Standing: lifecycle.Standing(before.Standing, s.resource, s.complete(), err),
		Version:  s.version, Failure: failure, Kept: strings.Join(s.unpruned, ", "),
	}
	if passes && before.Standing != "" {
		// Nothing new is known.
		c.Failure, c.Components, c.Kept, c.Contested = before.Failure, before.Components, before.Kept, before.Contested
		return c
	}
	if s.ended.outcome == nil {
		return c
	}
	c.Contested = s.contested()
	for _, component := range s.ended.outcome.Components {
		if i := slices.Index(states[:], component.State); i >= 0 {
			c.Components[i]++
		}
	}
	return c
}
