package envtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// endedLabel is on namespaces whose test has ended.
	endedLabel = "operkit.dev/test-ended"
	// deletions is how many of these namespaces are deleted at a time. Kubernetes makes about a hundred requests for
	// each one, and in their order. With hundreds of them, a test that waits for the deletion of a namespace of its own
	// would wait for minutes.
	deletions = 10
	// lateDeletions is below how many deletions that of a namespace begins that had to wait for others.
	lateDeletions = 3
	// longestDeletion is after what time a deletion isn't expected to end any more, so that others begin.
	longestDeletion = time.Minute
)

// endNamespace deletes a namespace whose test has ended, unless too many are being deleted: then it is deleted at the
// end of a later test. In a temporary cluster it stays: deletions would be most of the work of the cluster.
func (p *plane) endNamespace(ctx context.Context, name string) error {
	if p.temporary {
		return nil
	}
	body := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, endedLabel)
	_, err := p.client.Resource(namespaces).Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	going, err := p.releaseEnded(ctx)
	if err != nil || going >= deletions {
		return err
	}
	if err := p.deleteNamespace(ctx, name); err != nil || going >= lateDeletions {
		return err
	}
	waiting, err := p.ended(ctx, corev1.NamespaceActive, int64(lateDeletions-going))
	for i := range waiting {
		if err := p.deleteNamespace(ctx, waiting[i].Name); err != nil {
			return err
		}
	}
	return err
}

// deleteNamespace begins the deletion of a namespace. One that is being deleted, or gone, is no error.
func (p *plane) deleteNamespace(ctx context.Context, name string) error {
	err := p.client.Resource(namespaces).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// releaseEnded removes finalizers of objects that block the deletion of ended tests' namespaces. A killed program may
// leave such objects, and nobody removes their finalizers. Kubernetes lists everything in such a namespace every few
// seconds, so forty of these namespaces cost half a processor. If the removal fails, it is tried again at the end of
// the next test. It returns how many namespaces are being deleted and are expected to go.
func (p *plane) releaseEnded(ctx context.Context) (going int, err error) {
	leaving, err := p.ended(ctx, corev1.NamespaceTerminating, 0)
	for i := range leaving {
		namespace := &leaving[i]
		for _, kind := range heldUpBy(namespace.Status.Conditions) {
			_ = p.release(ctx, namespace.Name, kind)
		}
		if began := namespace.DeletionTimestamp; began != nil && time.Since(began.Time) < longestDeletion {
			going++
		}
	}
	return going, err
}

// ended returns the namespaces of tests that have ended, in a phase: up to limit, all if it is zero.
func (p *plane) ended(ctx context.Context, phase corev1.NamespacePhase, limit int64) ([]corev1.Namespace, error) {
	list, err := p.client.Resource(namespaces).List(ctx, metav1.ListOptions{
		LabelSelector: endedLabel, FieldSelector: "status.phase=" + string(phase), Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	var typed corev1.NamespaceList
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.UnstructuredContent(), &typed); err != nil {
		return nil, err
	}
	return typed.Items, nil
}

// instances matches Kubernetes' message about a kind with objects left in a namespace.
var instances = regexp.MustCompile(`([a-z0-9-]+)\.([a-z0-9.-]*) has [0-9]+ resource instances`)

// heldUpBy returns the kinds of the objects that are left in a namespace, read from the namespace's conditions. If no
// object has finalizers, heldUpBy returns nil.
func heldUpBy(conditions []corev1.NamespaceCondition) (kinds []schema.GroupResource) {
	holds := false
	for _, condition := range conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case corev1.NamespaceFinalizersRemaining:
			holds = true
		case corev1.NamespaceContentRemaining:
			for _, found := range instances.FindAllStringSubmatch(condition.Message, -1) {
				kinds = append(kinds, schema.GroupResource{Group: found[2], Resource: found[1]})
			}
		}
	}
	if !holds {
		return nil
	}
	return kinds
}

// release removes the finalizers of the objects of a kind in a namespace.
func (p *plane) release(ctx context.Context, namespace string, kind schema.GroupResource) error {
	version, err := p.preferred(ctx, kind.Group)
	if err != nil {
		return err
	}
	resource := p.client.Resource(kind.WithVersion(version)).Namespace(namespace)
	left, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range left.Items {
		object := &left.Items[i]
		if len(object.GetFinalizers()) == 0 {
			continue
		}
		_, err := resource.Patch(ctx, object.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// preferred returns the preferred version of a group.
func (p *plane) preferred(ctx context.Context, group string) (string, error) {
	if group == "" {
		return "v1", nil
	}
	text, err := p.raw.Get().AbsPath("/apis", group).DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var found metav1.APIGroup
	if err := json.Unmarshal(text, &found); err != nil {
		return "", fmt.Errorf("group %s: %w", group, err)
	}
	return found.PreferredVersion.Version, nil
}
