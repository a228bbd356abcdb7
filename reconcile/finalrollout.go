package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespaceTerminating is the cause with which an API server refuses new objects in a namespace that is being deleted.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// rollOutFinalize rolls out the components that Finalize has added. It returns neither an outcome nor an error once all
// of them are verified, or those that aren't can't be made any more, which the session then has in undone. Nothing is
// pruned: the objects of Setup are still there, and the cluster collects all of them with the resource.
func (r *Reconciler) rollOutFinalize(ctx context.Context, s *Session) (*Outcome, error) {
	if !s.addedInFinalize() {
		return nil, nil
	}
	if finalizer := collecting(s.resource); finalizer != "" && !s.dryRun {
		return nil, Precondition("finalize: waiting until the garbage collector has taken its finalizer %s off: "+
			"it would delete, or disown, what is rolled out before", finalizer)
	}
	if err := r.findPatches(ctx, s); err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	outcome, err := s.rollout(ctx, r)
	if !r.options.dryRun {
		s.keepKinds(&outcome)
	}
	switch undone, refused := outcome.undone(); {
	case err == nil && outcome.Complete():
		return nil, nil
	case err == nil && undone != "" && (refused || s.namespaceGoes(ctx)):
		s.undone = "a namespace is being deleted, so this isn't rolled out any more: " + undone
		s.logger.Warn("finalized incompletely: nothing can be created in a namespace that is being deleted", "components", undone)
		return nil, nil
	}
	if err = errors.Join(outcome.Err(), err); err == nil {
		return &outcome, nil
	}
	if len(outcome.Components) == 0 || IsWaiting(err) || isTemporary(err) {
		return &outcome, fmt.Errorf("finalize: %w", err)
	}
	return &outcome, fmt.Errorf("finalize: %w: mend it, or take the finalizer %s off the resource to let it go without", err, r.options.finalizerName)
}

// addedInFinalize leaves of the components those that Finalize has added and not removed, and reports whether there are
// any.
func (s *Session) addedInFinalize() bool {
	s.components = slices.DeleteFunc(s.components, func(c *Component) bool {
		if c.removed {
			s.claims.release(c.objects)
			delete(s.names, c.name)
		}
		return c.removed
	})
	for _, c := range s.components {
		c.upstreams = slices.DeleteFunc(c.upstreams, func(up *upstream) bool { return up.component.removed })
	}
	return len(s.components) > 0
}

// collecting returns the finalizer by which the garbage collector holds a resource that is being deleted, empty if it
// doesn't. Until it is off, what hangs on the resource is deleted or parted with.
func collecting(resource *unstructured.Unstructured) string {
	for _, finalizer := range []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents} {
		if slices.Contains(resource.GetFinalizers(), finalizer) {
			return finalizer
		}
	}
	return ""
}

// undone describes the components that can't be rolled out any more if a namespace is being deleted; refused reports
// that one was refused for that. The text is empty while something else keeps a component: a failure, or objects that
// are deployed and not ready yet, which become ready or go with their namespace.
func (o Outcome) undone() (text string, refused bool) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		switch c := o.Components[name]; {
		case c.State == Verified:
		case c.Deployed, c.State == Failed && !apierrors.HasStatusCause(c.Err, namespaceTerminating):
			return "", false
		case c.State == Unstarted:
			parts = append(parts, name+" "+c.Reason)
		default:
			refused = refused || c.State == Failed
			parts = append(parts, fmt.Sprintf("%s: %v", name, c.Err))
		}
	}
	return strings.Join(parts, "; "), refused
}

// namespaceGoes reports whether the namespace of the resource is being deleted, as far as the operator may read that.
// What a component waits for may be gone with it.
func (s *Session) namespaceGoes(ctx context.Context) bool {
	if s.dryRun || s.Namespace() == "" {
		return false
	}
	namespace, err := s.Get(ctx, deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: s.Namespace()})
	return err == nil && namespace != nil && namespace.GetDeletionTimestamp() != nil
}
