package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// finalize calls Finalize while the resource carries our finalizer, rolls out the components that Finalize adds, and
// then removes the finalizer. If the controller has no Finalize, it removes the default finalizer, which an earlier
// release may have added. It leaves the finalizers of other programs alone, and reports them if they delay the
// deletion.
func (r *Reconciler) finalize(ctx context.Context, s *Session) (request.Result, error) {
	held := r.held(s.resource)
	if len(held) == 0 {
		return r.waitForOthers(ctx, s, nil)
	}
	if r.finalizer != nil {
		if err := r.setupFinalize(ctx, s); err != nil {
			return r.ended(ctx, s, nil, err)
		}
		if err := failure.Guard(func() error { return r.finalizer.Finalize(ctx, s) }); err != nil {
			return r.ended(ctx, s, nil, attributed("finalize", err))
		}
		if outcome, err := r.rollOutFinalize(ctx, s); outcome != nil || err != nil {
			return r.ended(ctx, s, outcome, err)
		}
	}
	if err := r.removeTracked(ctx, s); err != nil {
		return r.ended(ctx, s, nil, fmt.Errorf("delete objects owned by label: %w", err))
	}
	for _, name := range held {
		if err := r.lifecycle.RemoveFinalizer(ctx, s.resource, name); err != nil {
			return r.ended(ctx, s, nil, err)
		}
	}
	s.finalized = true
	return r.waitForOthers(ctx, s, held)
}

// setupFinalize prepares the session for Finalize. The version isn't checked. Configuration from a ConfigMap that is
// gone, perhaps with its namespace, is left out: it must not block the deletion.
func (r *Reconciler) setupFinalize(ctx context.Context, s *Session) error {
	if s.version = s.fixedVersion; s.version == "" {
		s.version, _ = r.options.versionOf(s.described)
	}
	if err := r.openAssets(ctx, s); err != nil {
		s.logger.Warn("finalizing without the files of the version", "version", s.version, "error", err)
		s.assets = missing{err}
	}
	err := r.configure(ctx, s)
	if !failure.Is[*noConfigError](err) {
		return err
	}
	s.logger.Warn("finalizing without the configuration of a ConfigMap that is gone", "error", err)
	return r.layer(s, nil)
}

// namespaceTerminating is the cause with which an API server refuses new objects in a namespace that is being deleted.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// rollOutFinalize rolls out the components that Finalize has added. It returns no outcome and no error when all of them
// are done, and also when they can't be created any more; then it sets s.undone. Nothing is pruned: the garbage
// collector deletes the objects of Setup and Finalize with the resource.
func (r *Reconciler) rollOutFinalize(ctx context.Context, s *Session) (*Outcome, error) {
	if !s.addedInFinalize() {
		return nil, nil
	}
	if finalizer := collecting(s.resource); finalizer != "" && !s.dryRun {
		return nil, request.Precondition("finalize: waiting until the garbage collector has removed its finalizer %s: "+
			"it would delete or orphan the new objects", finalizer)
	}
	if err := r.findPatches(ctx, s); err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	outcome, err := s.rollout(ctx)
	if !r.options.dryRun {
		s.keepKinds(&outcome)
	}
	switch undone, refused := outcome.undone(); {
	case err == nil && outcome.Complete():
		return nil, nil
	case err == nil && undone != "" && (refused || s.namespaceGoes(ctx)):
		s.undone = "not rolled out, because a namespace is being deleted: " + undone
		s.logger.Warn("finalized without some components: their namespace is being deleted", "components", undone)
		return nil, nil
	}
	if err = errors.Join(outcome.Err(), err); err == nil {
		return &outcome, nil
	}
	if len(outcome.Components) == 0 || request.IsWaiting(err) || lifecycle.Temporary(err) {
		return &outcome, fmt.Errorf("finalize: %w", err)
	}
	return &outcome, fmt.Errorf("finalize: %w: correct it, or remove the finalizer %s to delete the resource anyway",
		err, strings.Join(r.held(s.resource), " and "))
}

// addedInFinalize drops the components on which Finalize called Remove, and reports whether any are left.
func (s *Session) addedInFinalize() bool {
	s.components = slices.DeleteFunc(s.components, func(c *Component) bool {
		if c.removed {
			s.index.release(c.objects)
			delete(s.names, c.name)
		}
		return c.removed
	})
	for _, c := range s.components {
		c.upstreams = slices.DeleteFunc(c.upstreams, func(up *upstream) bool { return up.component.removed })
	}
	return len(s.components) > 0
}

// collecting returns the finalizer of the garbage collector on a resource that is being deleted, empty if there is
// none. While the finalizer is present, the collector deletes or orphans the objects that the resource owns.
func collecting(resource *unstructured.Unstructured) string {
	for _, finalizer := range []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents} {
		if slices.Contains(resource.GetFinalizers(), finalizer) {
			return finalizer
		}
	}
	return ""
}

// undone describes the components that can't be rolled out if their namespace is being deleted. refused reports whether
// the cluster refused one of them for this reason. The text is empty while a component is unfinished for another
// reason: it failed, or its objects are deployed but not ready yet. Such objects either become ready or are deleted
// with the namespace.
func (o Outcome) undone() (text string, refused bool) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		switch c := o.Components[name]; {
		case c.State.done():
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

// namespaceGoes reports whether the namespace of the resource is being deleted; false if the operator may not read it.
// Objects that a component waits for may have been deleted with the namespace.
func (s *Session) namespaceGoes(ctx context.Context) bool {
	if s.dryRun || s.Namespace() == "" {
		return false
	}
	namespace, err := s.Get(ctx, deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: s.Namespace()})
	return err == nil && namespace != nil && namespace.GetDeletionTimestamp() != nil
}
