package explore

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

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

// collect returns the contents of objects by their names. Generated names are numbered.
func collect(objects []*unstructured.Unstructured, contentOf func(obj *unstructured.Unstructured) map[string]any) state {
	s := state{}
	generated := map[deploy.Ref]int{}
	for _, obj := range objects {
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

// timeless returns the content of an object without identifiers and versions, and without times in its metadata and
// status.
func timeless(obj *unstructured.Unstructured) map[string]any {
	generation := obj.GetGeneration()
	content := obj.DeepCopy().Object
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		delete(metadata, field)
	}
	if annotations, is := metadata["annotations"].(map[string]any); is {
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return key == addition || isApplied(key) })
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	if owners, is := metadata["ownerReferences"].([]any); is {
		for _, owner := range owners {
			if fields, is := owner.(map[string]any); is {
				delete(fields, "uid")
			}
		}
	}
	for _, path := range assigned[obj.GetKind()] {
		unstructured.RemoveNestedField(content, strings.Split(path, ".")...)
	}
	for _, field := range []string{"metadata", "status"} {
		if content[field] != nil {
			content[field] = withoutUIDs(withoutDates(content[field], generation))
		}
	}
	return content
}

// assigned are fields that the cluster sets, with another value for each object, by kind.
var assigned = map[string][]string{
	"Service":               {"spec.clusterIP", "spec.clusterIPs", "status.loadBalancer"},
	"StatefulSet":           {"status.currentRevision", "status.updateRevision"},
	"PersistentVolumeClaim": {"spec.volumeName"},
	"Pod":                   {"status.podIP", "status.podIPs"},
}

// uids matches a uid, as the cluster gives it.
var uids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// withoutUIDs replaces uids in value.
func withoutUIDs(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			value[key] = withoutUIDs(field)
		}
	case []any:
		for i, item := range value {
			value[i] = withoutUIDs(item)
		}
	case string:
		return uids.ReplaceAllString(value, "a uid")
	}
	return value
}

// withoutDates replaces times in value. It replaces an observed generation by "present" or "old".
func withoutDates(value any, generation int64) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if observed, is := field.(int64); is && key == "observedGeneration" {
				value[key] = map[bool]string{true: "present", false: "old"}[observed == generation]
				continue
			}
			value[key] = withoutDates(field, generation)
		}
	case []any:
		for i, item := range value {
			value[i] = withoutDates(item, generation)
		}
	case string:
		if _, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return "a time"
		}
	}
	return value
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
