package reconcile

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Controller describes the objects that a custom resource consists of. One value serves all resources of its kind
// concurrently, so it must not keep state of a session.
//
// It may have more methods, each an interface of its own:
//
//	Finalizer         Finalize         is called while the resource is being deleted
//	AfterDeployer     AfterDeploy      is called when all components are deployed
//	AfterVerifier     AfterVerify      is called when all components are ready
//	AfterIncompleter  AfterIncomplete  is called when a component couldn't be deployed, or isn't ready
//	Upgrader          Upgrade          is called before Setup when the version changes
//	Requeuer          Requeue          sets when the resource is reconciled again
//	Exhauster         Exhausted        is called when the resource is given up, see MaxAttempts
//	Defaulter         Defaults         returns defaults of the resource and of its configuration
//	Scoper            Scope            returns whether resources are namespaced
//	ConditionDeclarer Conditions       declares conditions of the controller's own
//	source.Provider   Sources          declares what else brings resources to reconcile
//
// New refuses a controller that has a method with one of these names and another signature. To let the compiler find
// such a method, write
//
//	var _ reconcile.Finalizer = Shop{}
type Controller interface {
	// Kind returns the kind of the custom resource. Group may be empty; version and kind must be set.
	Kind() schema.GroupVersionKind
	// Setup adds the components of the session's resource. It is called once per reconcile. For the same resource it
	// must always add the same components. An error ends the reconcile before anything is written, and so does a panic;
	// see request.Precondition and request.Configuration.
	Setup(ctx context.Context, s *Session) error
}

// Finalizer is implemented by a Controller that has something to do before a resource and the objects that it owns are
// deleted. The resource then carries a finalizer.
type Finalizer interface {
	// Finalize is called with every reconcile while the resource is being deleted. To wait for something return
	// request.Precondition.
	//
	// When Finalize has returned nil, the components that it added are rolled out like components of Setup, in their
	// order, with gates, patches and hooks. Components on which Finalize called Remove are left out. Finalize must add
	// the same components each time. When all components are verified, or none were added, the finalizer is removed,
	// and the garbage collector deletes all objects that the resource owns, including those of Finalize. A component
	// that fails blocks the deletion; the condition Updating and an event name the component. Nothing is pruned: the
	// objects of Setup stay as they are until the finalizer is removed.
	//
	// There are two exceptions. While the resource has a finalizer of the garbage collector (foreground deletion, or
	// orphaning), the rollout waits, since the collector would delete or orphan the new objects too. In a namespace
	// that is being deleted nothing can be created: components that the cluster refuses for this reason are given up,
	// and the event EventUnfinished names them.
	Finalize(ctx context.Context, s *Session) error
}

// AfterDeployer is implemented by a Controller that has something to do when every component is deployed.
type AfterDeployer interface {
	// AfterDeploy is called before the components are verified. If it returns an error, the resource isn't ready;
	// request.Precondition makes the resource wait.
	AfterDeploy(ctx context.Context, s *Session, outcome Outcome) error
}

// AfterVerifier is implemented by a Controller that has something to do when every component is ready.
type AfterVerifier interface {
	// AfterVerify is called at the end of the rollout, unless AfterDeploy returned an error. If AfterVerify returns an
	// error, the resource isn't ready.
	AfterVerify(ctx context.Context, s *Session, outcome Outcome) error
}

// AfterIncompleter is implemented by a Controller that has something to do after a rollout that isn't complete.
type AfterIncompleter interface {
	// AfterIncomplete is called instead of AfterDeploy when a component couldn't be deployed, and instead of
	// AfterVerify when all were deployed but at least one isn't ready; outcome.Deployed distinguishes the two.
	// outcome.Err is nil when components only wait.
	AfterIncomplete(ctx context.Context, s *Session, outcome Outcome) error
}

// Upgrader is implemented by a Controller that may refuse or delay a change of a resource's version.
type Upgrader interface {
	// Upgrade is called before Setup, with every reconcile until the resource has reached the new version. from is the
	// version that the resource last reached, and to is the version that it wants. If Upgrade returns an error, the
	// resource stays as it is: request.Configuration refuses the upgrade, request.Precondition postpones it.
	Upgrade(ctx context.Context, s *Session, from, to string) error
}

// Requeuer is implemented by a Controller that decides when a resource is reconciled again without an event.
type Requeuer interface {
	// Requeue is called after a rollout without an error. It returns the time until the next reconcile. Zero means
	// Period for a complete resource, and for an incomplete one Recheck or a shorter time that a component asks for. A
	// negative time means that only an event causes the next reconcile. If Requeue returns request.Precondition, the
	// next reconcile is after the time of request.RetryAfter around that error, otherwise after the time of Recheck, or
	// earlier if a component asks for that.
	Requeue(ctx context.Context, s *Session, outcome Outcome) (after time.Duration, err error)
}

// Exhauster is implemented by a Controller that is notified when a resource is given up, see MaxAttempts.
type Exhauster interface {
	// Exhausted is called with the last error of the resource. An error that it returns is reported too.
	Exhausted(ctx context.Context, s *Session, err error) error
}

// ConditionDeclarer is implemented by a Controller that reports conditions of its own, see Session.Conditions.
type ConditionDeclarer interface {
	// Conditions is called once, by New, and returns the result of status.Declare. The first write of the status adds
	// the conditions as Unknown. A Conditions method with the option NoStatus is an error, and so are types that
	// operkit writes itself, such as Ready: commands, parents and other tools read Ready as the outcome of the whole
	// rollout. To decide when a component is ready, use ReadyBy.
	Conditions() (*status.Declaration, error)
}

// Defaults are values that a resource, or its configuration, may leave out. They are never written to the cluster.
type Defaults struct {
	// Resource is merged under each resource before Setup sees it.
	Resource map[string]any
	// Config is merged under the configuration of each resource, see Session.Config.
	Config map[string]any
}

// Defaulter is implemented by a Controller whose resources, or their configuration, have defaults.
type Defaulter interface {
	// Defaults is called once, by New. The maps must not be changed afterwards.
	Defaults() Defaults
}

// Scoper is implemented by a Controller that can be rendered without a cluster that serves its kind. Resources of other
// controllers are then assumed to be namespaced.
type Scoper interface {
	// Scope returns whether the resources are namespaced or cluster-scoped.
	Scope() deploy.Scope
}

// controllerMethods are the interfaces that a Controller may implement in addition.
var controllerMethods = []reflect.Type{
	reflect.TypeFor[Finalizer](), reflect.TypeFor[AfterDeployer](), reflect.TypeFor[AfterVerifier](),
	reflect.TypeFor[AfterIncompleter](), reflect.TypeFor[Upgrader](), reflect.TypeFor[Requeuer](), reflect.TypeFor[Exhauster](), reflect.TypeFor[Defaulter](), reflect.TypeFor[Scoper](), reflect.TypeFor[ConditionDeclarer](),
	reflect.TypeFor[source.Provider](),
}

func checkController(c Controller) error {
	if c == nil {
		return errors.New("nil controller")
	}
	if kind := c.Kind(); kind.Kind == "" || kind.Version == "" {
		return fmt.Errorf("controller %T: its kind %q needs a version and a kind", c, kind)
	}
	return optional.Check(c, controllerMethods...)
}
