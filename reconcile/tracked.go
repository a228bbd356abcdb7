package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// OwnAnywhere lets resources in a namespace have objects in other namespaces and cluster-scoped ones. The
// cluster doesn't collect these with their owner, so they carry its uid in the label <domain>/owner-uid
// (deploy.OwnedByLabel), resources get the finalizer whether or not there is a Finalize, and what carries
// the label is deleted before that comes off. A kind is remembered in the status before the first object
// of it is applied, at the cost of one more write, so that a crash can't lose it.
func OwnAnywhere() Option { return func(o *options) { o.ownAnywhere = true } }

// finalizes tells whether resources carry the finalizer.
func (r *Reconciler) finalizes() bool { return r.finalizer != nil || r.options.ownAnywhere }

// remember has the status name kinds before objects of them are applied, where only that finds them again.
func (s *Session) remember(ctx context.Context, kinds []schema.GroupVersionKind) error {
	if !s.ownAnywhere || s.dryRun {
		return nil
	}
	s.remembering.Lock()
	defer s.remembering.Unlock()
	known := append(s.remembered(), s.noted...)
	fresh := slices.DeleteFunc(slices.Clone(kinds), func(kind schema.GroupVersionKind) bool { return slices.Contains(known, kind) })
	if len(fresh) == 0 {
		return nil
	}
	names := kindNames(append(known, fresh...))
	_, err := s.manager.SetStatus(ctx, deploy.RefOf(s.resource), func(current *unstructured.Unstructured) (map[string]any, error) {
		next := current.DeepCopy()
		if current.GetUID() != s.resource.GetUID() {
			return nil, fmt.Errorf("%s is another one by now", deploy.RefOf(s.resource))
		}
		slices.Sort(names)
		err := unstructured.SetNestedStringSlice(next.Object, slices.Compact(names), "status", "componentStatus", "kinds")
		content, _ := next.Object["status"].(map[string]any)
		return content, err
	})
	if err != nil {
		return fmt.Errorf("remember the kinds of its objects: %w", err)
	}
	s.noted = append(s.noted, fresh...)
	return nil
}

// removeTracked deletes what the resource owns by label, and waits until it is gone.
func (r *Reconciler) removeTracked(ctx context.Context, s *Session) error {
	if !r.options.ownAnywhere {
		return nil
	}
	kinds := append(s.remembered(), r.options.prunes...)
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	kinds = slices.Compact(kinds)
	tracked, err := r.manager.Tracked(ctx, kinds, deploy.OwnedBy(s.resource))
	if err != nil || len(tracked) == 0 {
		return err
	}
	for _, kind := range kinds {
		var unknown *deploy.KindUnknownError
		if err := s.own(ctx, kind); err != nil && !errors.As(err, &unknown) {
			return err
		}
	}
	_, err = s.removeAll(ctx, tracked)
	return err
}
