package explore

import (
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// lost is the problem of an owner that isn't where the garbage collector looks for it.
const lost = "the garbage collector deletes an object, because it doesn't find the owner"

// misowned finds an owner reference to a resource in another namespace, or of a cluster-scoped object to one in a
// namespace. call is a write that was just sent.
func (w *witness) misowned(call reconciletest.Call) []fault {
	if call.Action != deploy.Created && call.Action != deploy.Configured || w.options.ignoresField(call.Ref, "metadata.ownerReferences") {
		return nil
	}
	obj, err := w.harness.Memory().View().Get(w.trial.ctx, call.Ref)
	if err != nil || obj == nil || len(obj.GetOwnerReferences()) == 0 {
		return nil
	}
	for _, reference := range obj.GetOwnerReferences() {
		if w.reaches(obj, reference) {
			continue
		}
		owner := find(w.harness.Memory().Objects(), func(owner *unstructured.Unstructured) bool { return owner.GetUID() == reference.UID })
		if owner == nil || owner.GetNamespace() == "" || owner.GetNamespace() == obj.GetNamespace() {
			continue
		}
		where := "another namespace"
		if obj.GetNamespace() == "" {
			where = "a namespace, and the object isn't"
		}
		return []fault{{lost, []string{fmt.Sprintf("%s metadata.ownerReferences[%s]: %s is in %s", nameOf(obj), owner.GetName(), nameOf(owner), where)}}}
	}
	return nil
}

// reaches reports whether an owner is in the namespace of its object, without a copy of all objects.
func (w *witness) reaches(obj *unstructured.Unstructured, reference metav1.OwnerReference) bool {
	ref := deploy.Ref{Kind: schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind), Namespace: obj.GetNamespace(), Name: reference.Name}
	owner, err := w.harness.Memory().View().Get(w.trial.ctx, ref)
	return err == nil && owner != nil && owner.GetUID() == reference.UID && owner.GetNamespace() == obj.GetNamespace()
}

func find(objects []*unstructured.Unstructured, is func(obj *unstructured.Unstructured) bool) *unstructured.Unstructured {
	if at := slices.IndexFunc(objects, is); at >= 0 {
		return objects[at]
	}
	return nil
}
