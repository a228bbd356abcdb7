package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	objects := w.harness.Memory().Objects()
	for _, reference := range obj.GetOwnerReferences() {
		owner := find(objects, func(owner *unstructured.Unstructured) bool { return owner.GetUID() == reference.UID })
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

// unheld finds a resource that gets a finalizer when an object is there already that nobody else cleans up: without an
// owner. If the resource is deleted in between, the object is left.
func (w *witness) unheld(call reconciletest.Call) []fault {
	switch {
	case call.Err != nil:
	case w.explores(call.Ref):
		name := refName(call.Ref)
		if slices.ContainsFunc(call.Changes, holds) && w.orphans[name] != "" {
			return []fault{{"a finalizer is added too late", []string{
				w.orphans[name] + ": it has no owner, and was created before " + name + " got a finalizer",
			}}}
		}
	case call.Action == deploy.Created && w.trace.began[refName(call.Ref)] == nil && !w.options.ignoresObject(call.Ref):
		obj, err := w.harness.Memory().View().Get(w.trial.ctx, call.Ref)
		resource := find(w.harness.Memory().Objects(), func(obj *unstructured.Unstructured) bool { return w.explores(deploy.RefOf(obj)) })
		orphaned := err == nil && obj != nil && len(obj.GetOwnerReferences()) == 0 && !slices.Contains(notCompared, obj.GetKind())
		if orphaned && resource != nil && len(resource.GetFinalizers()) == 0 {
			w.orphans[nameOf(resource)] = nameOf(obj)
		}
	}
	return nil
}

// holds reports whether a change adds a finalizer.
func holds(change deploy.Change) bool {
	return strings.HasPrefix(change.Path, ".metadata.finalizers") && change.Before == nil
}

func find(objects []*unstructured.Unstructured, is func(obj *unstructured.Unstructured) bool) *unstructured.Unstructured {
	if at := slices.IndexFunc(objects, is); at >= 0 {
		return objects[at]
	}
	return nil
}
