package explore

import (
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest/internal/changes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// timeless returns the content of an object without identifiers and versions, and without times in its metadata and
// status. The named elements of lists in its status are in the order of their names.
func timeless(obj *unstructured.Unstructured) map[string]any {
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
	withoutDate := dateless(obj.GetGeneration())
	for _, field := range []string{"metadata", "status"} {
		if content[field] != nil {
			content[field] = replaced(field, content[field], func(name string, value any) any { return unidentified(field, withoutDate(name, value)) })
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

// unidentified replaces uids in a text, and sorts a list of a status.
func unidentified(in string, value any) any {
	switch value := value.(type) {
	case string:
		return uids.ReplaceAllString(value, "a uid")
	case []any:
		if in == "status" {
			return changes.Sorted(value)
		}
	}
	return value
}

// replaced returns a value in which replace was called for each field, item and scalar, from the innermost on. It
// changes the value. field is the name of a field, empty for an item.
func replaced(field string, value any, replace func(field string, value any) any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			value[name] = replaced(name, below, replace)
		}
	case []any:
		for i, item := range value {
			value[i] = replaced("", item, replace)
		}
	}
	return replace(field, value)
}

// dateless returns a function for replaced that replaces times, and an observed generation by "present" or "old".
func dateless(generation int64) func(field string, value any) any {
	return func(field string, value any) any {
		switch value := value.(type) {
		case int64:
			if field == "observedGeneration" {
				return map[bool]string{true: "present", false: "old"}[value == generation]
			}
		case string:
			if isTime(value) {
				return "a time"
			}
		}
		return value
	}
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}
