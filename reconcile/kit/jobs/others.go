package jobs

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	kitlabels "github.com/operkit/operkit/reconcile/kit/labels"
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
	label, component := s.Manager().KeyDomain()+"/"+Label, kitlabels.Value(c.Name())
	other := func(obj *unstructured.Unstructured) bool {
		return obj.GetLabels()[label] == component && obj.GetNamespace() == own.Namespace && obj.GetName() != own.Name
	}
	if !fresh {
		owned, err := s.Manager().Owned(ctx, []schema.GroupVersionKind{jobKind}, nil)
		if err != nil {
			return nil, err
		}
		var found []*unstructured.Unstructured
		for _, obj := range owned {
			if !other(obj) {
				continue
			}
			job, err := s.Get(ctx, deploy.RefOf(obj)) // a cache may have only the metadata of Jobs
			if err != nil {
				return nil, err
			}
			if job != nil {
				found = append(found, job)
			}
		}
		return found, nil
	}
	selector := labels.SelectorFromSet(labels.Set{label: component})
	found, err := s.Manager().Port().List(ctx, jobKind, own.Namespace, deploy.ListOptions{Labels: selector})
	resource := s.Resource()
	return slices.DeleteFunc(found, func(obj *unstructured.Unstructured) bool {
		present, former := ownerOf(resource, obj)
		return !present && !former || !other(obj)
	}), err
}

// ownerOf reports whether a Job belongs to a resource, or to a deleted resource of the same name. The cluster deletes
// the Jobs of the latter after a while.
func ownerOf(resource, job *unstructured.Unstructured) (present, former bool) {
	for _, value := range job.GetLabels() { // objects may be owned by a label
		present = present || value == string(resource.GetUID())
	}
	kind := resource.GroupVersionKind().GroupKind()
	for _, owner := range job.GetOwnerReferences() {
		present = present || owner.UID == resource.GetUID()
		former = former || owner.Name == resource.GetName() && schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() == kind
	}
	return present, former && !present
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

// outdated returns why a Job of the present value is no record that the value has run, empty if it is one. Times have
// seconds: of two Jobs of the same second this one counts as the later one.
func (o *once) outdated(s *reconcile.Session, own *unstructured.Unstructured, others []*unstructured.Unstructured) string {
	if _, former := ownerOf(s.Resource(), own); former {
		return "which is of a deleted resource of this name"
	}
	for _, job := range others {
		if finished(own) && job.GetCreationTimestamp().After(own.GetCreationTimestamp().Time) {
			return fmt.Sprintf("which ran before the Job of the value %q", o.valueOf(s, job))
		}
	}
	return ""
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
