package envtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// endedLabel is on namespaces whose test has ended.
const endedLabel = "operkit.dev/test-ended"

// endNamespace deletes a namespace whose test has ended, and releases older namespaces whose deletion hangs. A killed
// program may leave objects with finalizers that nobody removes. Kubernetes lists everything in such a namespace every
// few seconds, so forty of these namespaces cost half a processor.
func (p *plane) endNamespace(ctx context.Context, name string) error {
	body := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, endedLabel)
	_, err := p.client.Resource(namespaces).Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{})
	if err == nil {
		err = p.client.Resource(namespaces).Delete(ctx, name, metav1.DeleteOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	p.releaseEnded(ctx)
	return nil
}

// releaseEnded removes finalizers of objects that block the deletion of ended tests' namespaces. If that fails, it is
// tried again at the end of the next test.
func (p *plane) releaseEnded(ctx context.Context) {
	ended, err := p.client.Resource(namespaces).List(ctx, metav1.ListOptions{LabelSelector: endedLabel})
	if err != nil {
		return
	}
	for i := range ended.Items {
		var namespace corev1.Namespace
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(ended.Items[i].Object, &namespace); err != nil {
			continue
		}
		for _, kind := range heldUpBy(namespace.Status.Conditions) {
			_ = p.release(ctx, namespace.Name, kind)
		}
	}
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
