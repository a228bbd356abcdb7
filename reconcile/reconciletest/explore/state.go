package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// state is what a cluster has, without what differs in each execution, by the name of the object.
type state map[string]map[string]any

// notCompared are the kinds that aren't part of a state.
var notCompared = []string{"CustomResourceDefinition", "Event"}

// objects returns copies of the objects of a cluster that are judged.
func (e *explorer) objects(h *reconciletest.Harness) []*unstructured.Unstructured {
	return e.options.judged(h.Memory().Objects())
}

// stateOf returns the state of objects, as it is compared.
func stateOf(objects []*unstructured.Unstructured) state { return collect(objects, timeless) }

// collect returns the contents of objects by their names. Generated names are numbered, by the names of their owners.
func collect(objects []*unstructured.Unstructured, contentOf func(obj *unstructured.Unstructured) map[string]any) state {
	s := state{}
	generated := map[deploy.Ref]int{}
	for _, obj := range slices.SortedStableFunc(slices.Values(objects), byOwner) {
		if slices.Contains(notCompared, obj.GetKind()) {
			continue
		}
		content, ref := contentOf(obj), deploy.RefOf(obj)
		if ref.Name = obj.GetGenerateName(); ref.Name != "" { // its name differs in each execution
			generated[ref]++
			ref.Name = fmt.Sprintf("%s%d", ref.Name, generated[ref])
			content["metadata"].(map[string]any)["name"] = ref.Name
		} else {
			ref.Name = obj.GetName()
		}
		s[refName(ref)] = content
	}
	return s
}

// byOwner compares the names of the first owners of two objects.
func byOwner(a, b *unstructured.Unstructured) int {
	name := func(obj *unstructured.Unstructured) string {
		for _, owner := range obj.GetOwnerReferences() {
			return owner.Name
		}
		return ""
	}
	return strings.Compare(name(a), name(b))
}

// resources returns the names of the resources of a kind.
func resources(h *reconciletest.Harness, kind schema.GroupVersionKind) (names []string) {
	for _, obj := range h.Memory().Objects() {
		if obj.GroupVersionKind().GroupKind() == kind.GroupKind() {
			names = append(names, nameOf(obj))
		}
	}
	return names
}

// readyOf returns the resources of a kind that are Ready for their generation.
func readyOf(objects []*unstructured.Unstructured, kind schema.GroupVersionKind) (ready []string) {
	for _, obj := range objects {
		if obj.GroupVersionKind().GroupKind() == kind.GroupKind() && claimOf(obj).ready {
			ready = append(ready, nameOf(obj))
		}
	}
	return ready
}
