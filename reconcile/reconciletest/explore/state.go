package explore

import (
	"cmp"
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

// notCompared are the groups and kinds that aren't part of a state.
var notCompared = []schema.GroupKind{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Kind: "Event"}, {Group: "events.k8s.io", Kind: "Event"},
}

// objects returns copies of the objects of a cluster that are judged.
func (e *explorer) objects(h *reconciletest.Harness) []*unstructured.Unstructured {
	return e.options.judged(h.Memory().Objects())
}

// stateOf returns the state of objects, as it is compared.
func stateOf(objects []*unstructured.Unstructured) state { return collect(objects, timeless) }

// collect returns the contents of objects by their names. Generated names differ in each execution: they are numbered,
// by the name of their owner and by their content.
func collect(objects []*unstructured.Unstructured, contentOf func(obj *unstructured.Unstructured) map[string]any) state {
	s := state{}
	generated := map[deploy.Ref][]map[string]any{}
	for _, obj := range objects {
		ref := deploy.RefOf(obj)
		if slices.Contains(notCompared, ref.Kind.GroupKind()) {
			continue
		}
		content := contentOf(obj)
		if obj.GetGenerateName() == "" {
			s[refName(ref)] = content
			continue
		}
		delete(content["metadata"].(map[string]any), "name")
		ref.Name = obj.GetGenerateName()
		generated[ref] = append(generated[ref], content)
	}
	for ref, alike := range generated {
		prefix, number := ref.Name, 0
		for _, content := range slices.SortedStableFunc(slices.Values(alike), byOwner) {
			for taken := true; taken; taken = s[refName(ref)] != nil {
				number++
				ref.Name = fmt.Sprintf("%s%d", prefix, number)
			}
			content["metadata"].(map[string]any)["name"] = ref.Name
			s[refName(ref)] = content
		}
	}
	return s
}

// byOwner compares the names of the first owners of two objects, and then their contents.
func byOwner(a, b map[string]any) int {
	owner := func(content map[string]any) (name string) {
		owners, _, _ := unstructured.NestedSlice(content, "metadata", "ownerReferences")
		if len(owners) > 0 {
			name = fmt.Sprint(owners[0].(map[string]any)["name"])
		}
		return name
	}
	return cmp.Or(strings.Compare(owner(a), owner(b)), strings.Compare(encoded(a), encoded(b)))
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
