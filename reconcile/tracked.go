package reconcile

import (
	"context"
	"fmt"
	"slices"

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
	known := withKinds(s.kindsInStatus(), s.noted...)
	all := withKinds(known, kinds...)
	if len(all) == len(known) {
		return nil
	}
	names := kindNames(all)
	slices.Sort(names)
	result, err := fitting(s.logger, func(step int) (deploy.Result, error) {
		return s.manager.SetStatus(ctx, deploy.RefOf(s.resource), func(current *unstructured.Unstructured) (map[string]any, error) {
			next := current.DeepCopy()
			if current.GetUID() != s.resource.GetUID() {
				return nil, fmt.Errorf("%s is another one by now", deploy.RefOf(s.resource))
			}
			err := unstructured.SetNestedStringSlice(next.Object, names, "status", "componentStatus", "kinds")
			content, _ := next.Object["status"].(map[string]any)
			if step > 0 {
				content = shortenings[step-1].of(content)
			}
			return content, err
		})
	})
	if err != nil {
		return fmt.Errorf("remember the kinds of its objects: %w", err)
	}
	if result.Object != nil {
		if kept, _, _ := unstructured.NestedStringSlice(result.Object.Object, "status", "componentStatus", "kinds"); !slices.Equal(kept, names) {
			return &classified{class: classRollout, err: fmt.Errorf("remember the kinds of its objects: the CustomResourceDefinition of %s drops "+
				"status.componentStatus.kinds: add it to the schema (status.Fields has it), or what OwnAnywhere makes would stay for ever", s.Kind().Kind)}
		}
	}
	s.noted = all
	return nil
}

// removeTracked deletes what the resource owns by label, and waits until it is gone. What Finalize has rolled out is
// deleted last and not waited for: the next reconcile would make it anew.
func (r *Reconciler) removeTracked(ctx context.Context, s *Session) error {
	if !r.options.ownAnywhere {
		return nil
	}
	known := withKinds(s.remembered(), r.options.prunes...)
	for _, c := range s.components {
		known = withKinds(known, c.kinds()...)
	}
	var kinds []schema.GroupVersionKind
	for _, kind := range known {
		served, err := s.watchable(ctx, kind)
		if err != nil {
			return err
		}
		if served {
			kinds = append(kinds, kind)
		}
	}
	tracked, err := s.manager.Tracked(ctx, kinds)
	if err != nil || len(tracked) == 0 {
		return err
	}
	ordinary := slices.DeleteFunc(slices.Clone(tracked), s.renders)
	if _, err := s.removeAll(ctx, ordinary); err != nil {
		return err
	}
	_, err = s.remove(ctx, slices.DeleteFunc(tracked, func(obj *unstructured.Unstructured) bool { return !s.renders(obj) }))
	return err
}

// renders reports whether an enabled component renders obj, be it by its name or by the one that the cluster generated.
func (s *Session) renders(obj *unstructured.Unstructured) bool {
	return s.wanted(deploy.RefOf(obj)) || s.generates(obj)
}
