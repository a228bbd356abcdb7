package reconciletest

import (
	"context"
	"maps"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// selectsObject reports whether the object selector matches the object before or after the write.
func (a asked) selectsObject(review *dryrun.Write) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(a.ObjectSelector)
	if err != nil {
		return false, err
	}
	for _, object := range []*unstructured.Unstructured{review.Object, review.Old} {
		if object != nil && selector.Matches(labels.Set(object.GetLabels())) {
			return true, nil
		}
	}
	return false, nil
}

var namespaces = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// selectsNamespace reports whether the namespace selector matches the namespace of the object. Other objects without a
// namespace than Namespaces match always.
func (w *webhooks) selectsNamespace(ctx context.Context, a asked, review *dryrun.Write) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(a.NamespaceSelector)
	if err != nil {
		return false, err
	}
	found := map[string]string{"kubernetes.io/metadata.name": review.Ref.Namespace}
	switch {
	case review.Ref.Kind.GroupKind() == namespaces.GroupKind():
		object := review.Object
		if object == nil {
			object = review.Old
		}
		found = object.GetLabels()
	case review.Ref.Namespace == "":
		return true, nil
	default:
		namespace, err := w.memory.View().Get(ctx, deploy.Ref{Kind: namespaces, Name: review.Ref.Namespace})
		if err != nil {
			return false, err
		}
		if namespace != nil {
			maps.Copy(found, namespace.GetLabels())
		}
	}
	return selector.Matches(labels.Set(found)), nil
}
