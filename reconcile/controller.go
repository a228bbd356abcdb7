package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Controller describes what a custom resource stands for. One value serves all resources
// of its kind, several at once: it must not keep state of a session.
//
// It may have more methods, each of an interface of its own: Finalizer; AfterDeployer, UnsuccessfulDeployer, AfterVerifier
// and UnsuccessfulVerifier; Upgrader; Requeuer and Exhauster; Defaulter and ConfigDefaulter; Releaser; and source.Provider, which says what
// brings resources to reconcile beside their own changes and those of what they own. A method of one of these names
// with another signature is an error.
type Controller interface {
	// Kind is the kind of the custom resource. Group may be empty, version and kind not.
	Kind() schema.GroupVersionKind
	// Setup adds the components of the session's resource. It is called once per reconcile
	// and must do the same for the same resource. An error ends the reconcile before
	// anything is written; see Precondition and Configuration for its kinds. So does a panic.
	Setup(ctx context.Context, s *Session) error
}

// Finalizer is implemented by a Controller that has something to do before a resource and
// what it owns may go. The resource then carries a finalizer.
type Finalizer interface {
	// Finalize is called with every reconcile while the resource is being deleted. To wait for something return
	// Precondition.
	//
	// Once it returns nil, the components that it has added are rolled out as those of Setup are, in their order, with
	// gates, patches and hooks (AfterVerifier and the others); those on which it called Remove itself are left out. It
	// must add the same components each time. When all are verified, or none were added, the finalizer is removed and the
	// cluster collects the objects that the resource owns, those of Finalize too. A component that fails holds the
	// resource; the condition Updating and an event name it. Nothing is pruned: the objects of Setup stay as they are
	// until then.
	//
	// Two cases differ. While the garbage collector has a finalizer of its own on the resource (deletion in the
	// foreground, or with orphans) the rollout waits for it, since the collector would take the new objects too. In a
	// namespace that is being deleted nothing can be created: components that are refused for that are given up, which the
	// event EventUnfinished says.
	Finalize(ctx context.Context, s *Session) error
}

// defaultFinalizer is the name that is used when none is given (spec: reconcile 20).
func defaultFinalizer(kind schema.GroupVersionKind) string {
	name := "finalizers." + strings.ToLower(kind.Kind)
	if kind.Group != "" {
		name += "." + kind.Group
	}
	return name
}

func checkController(c Controller) error {
	if c == nil {
		return errors.New("controller: is nil")
	}
	if kind := c.Kind(); kind.Kind == "" || kind.Version == "" {
		return fmt.Errorf("controller %T: its kind %q needs a version and a kind", c, kind)
	}
	return optional.Check(c, controllerMethods...)
}

// Scoper is implemented by a Controller that says where its resources live, for whoever has no cluster to ask: those of others are
// taken to live in namespaces.
type Scoper interface {
	Scope() deploy.Scope
}
