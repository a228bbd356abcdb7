package jobs

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// others returns the Jobs of other values. Before a Job is created they are read from the cluster itself, since a cache
// may not have the latest of them yet.
func (o *once) others(ctx context.Context, s *reconcile.Session, c *reconcile.Component, own deploy.Ref, fresh bool) ([]*unstructured.Unstructured, error) {
	label, component := s.Manager().KeyDomain()+"/"+Label, labelOf(c.Name())
	other := func(obj *unstructured.Unstructured) bool {
		return obj.GetLabels()[label] == component && obj.GetNamespace() == own.Namespace && obj.GetName() != own.Name
	}
	if !fresh {
		found, err := s.Manager().Owned(ctx, []schema.GroupVersionKind{jobKind}, nil)
		return slices.DeleteFunc(found, func(obj *unstructured.Unstructured) bool { return !other(obj) }), err
	}
	selector := labels.SelectorFromSet(labels.Set{label: component})
	found, err := s.Manager().Port().List(ctx, jobKind, own.Namespace, deploy.ListOptions{Labels: selector})
	resource := s.Resource().GetUID()
	return slices.DeleteFunc(found, func(obj *unstructured.Unstructured) bool {
		owned := slices.ContainsFunc(obj.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == resource })
		for _, value := range obj.GetLabels() { // objects may be owned by a label
			owned = owned || value == string(resource)
		}
		return !owned || !other(obj)
	}), err
}

// await waits until none of the Jobs runs.
func (o *once) await(ctx context.Context, s *reconcile.Session, others []*unstructured.Unstructured) error {
	for _, job := range others {
		if finished(job) {
			continue
		}
		if o.replace {
			return o.replaced(ctx, s, job, fmt.Sprintf("which ran for the value %q", o.valueOf(s, job)))
		}
		text := fmt.Sprintf("waits until Job %s has ended, which runs for the value %q", job.GetName(), o.valueOf(s, job))
		if words := o.explain(ctx, s, job); words != "" {
			text += "; " + words
		}
		return request.Precondition("%s", text)
	}
	return nil
}

// replaced deletes a Job with its Pods, and waits until it is gone.
func (o *once) replaced(ctx context.Context, s *reconcile.Session, job *unstructured.Unstructured, why string) error {
	if _, err := s.Manager().Delete(ctx, []*unstructured.Unstructured{job}, deploy.Propagate(metav1.DeletePropagationForeground)); err != nil {
		return err
	}
	return request.Precondition("waits until Job %s is gone, %s", job.GetName(), why)
}

// laterThan returns a Job of another value that was created after own, nil if there is none. The value has come back
// before own was deleted. Times have seconds: within one second own counts as the later one.
func laterThan(own *unstructured.Unstructured, others []*unstructured.Unstructured) *unstructured.Unstructured {
	for _, job := range others {
		if own != nil && job.GetCreationTimestamp().After(own.GetCreationTimestamp().Time) {
			return job
		}
	}
	return nil
}

// valueOf returns the value of a Job.
func (o *once) valueOf(s *reconcile.Session, job *unstructured.Unstructured) string {
	return job.GetAnnotations()[valueKey(s.Manager().KeyDomain())]
}

// discard deletes finished Jobs of other values.
func discard(ctx context.Context, s *reconcile.Session, others []*unstructured.Unstructured) error {
	objects := make([]any, len(others))
	for i, job := range others {
		objects[i] = job
	}
	if err := s.Remove(ctx, objects...); !request.IsWaiting(err) {
		return err
	}
	return nil // nothing depends on when they are gone
}

// finished reports whether a Job has ended, so that none of its Pods runs.
func finished(job *unstructured.Unstructured) bool { return is(job, "Complete") || is(job, "Failed") }

// is reports whether a condition of a Job is true.
func is(job *unstructured.Unstructured, conditionType string) bool {
	condition, found := status.Conditions(job).Get(conditionType)
	return found && condition.Status == metav1.ConditionTrue
}
