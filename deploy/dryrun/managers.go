package dryrun

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stampManagers sets the times of the managedFields entries that this write made or
// changed to the cluster's own clock; the API machinery takes them from the machine's.
func (c *Cluster) stampManagers(live, next *unstructured.Unstructured) {
	times := map[[4]string]any{}
	if live != nil {
		for _, entry := range managersOf(live) {
			times[managerKey(entry)] = entry["time"]
		}
	}
	entries := managersOf(next)
	if len(entries) == 0 {
		return
	}
	for i, entry := range entries {
		if before, known := times[managerKey(entry)]; !known || before != entry["time"] {
			entries[i] = withField(entry, "time", c.timestamp())
		}
	}
	slices.SortStableFunc(entries, compareManagers)
	stamped := make([]any, len(entries))
	for i, entry := range entries {
		stamped[i] = entry
	}
	metadataOf(next)["managedFields"] = stamped
}

// compareManagers is the order in which an API server lists the entries.
func compareManagers(a, b map[string]any) int {
	for _, field := range []string{"operation", "time", "manager", "apiVersion", "subresource"} {
		if order := cmp.Compare(text(a[field]), text(b[field])); order != 0 {
			return order
		}
	}
	return 0
}

// managerKey identifies an entry as the API machinery does: those of applies whatever their version.
func managerKey(entry map[string]any) [4]string {
	version := text(entry["apiVersion"])
	if entry["operation"] == "Apply" {
		version = ""
	}
	return [4]string{text(entry["manager"]), text(entry["operation"]), version, text(entry["subresource"])}
}

func managersOf(obj *unstructured.Unstructured) []map[string]any {
	list, _ := metadataOf(obj)["managedFields"].([]any)
	var entries []map[string]any
	for _, item := range list {
		if entry, ok := item.(map[string]any); ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

// keepingManagers lets change work on obj, but for the list of its managers: an empty one in a write of a
// kind of Kubernetes isn't none, it takes all of them away. In one of a custom resource it is none.
func keepingManagers(obj *unstructured.Unstructured, change func()) {
	managers, given := metadataOf(obj)["managedFields"]
	change()
	if given {
		metadataOf(obj)["managedFields"] = managers
	}
}

// withoutTimes is the content of obj but for the times of its managers.
func withoutTimes(obj *unstructured.Unstructured) map[string]any {
	var entries []any
	for _, entry := range managersOf(obj) {
		entries = append(entries, withField(entry, "time", nil))
	}
	return withField(obj.Object, "metadata", withField(metadataOf(obj), "managedFields", entries))
}

// withField copies a map with one field set.
func withField(content map[string]any, field string, value any) map[string]any {
	out := make(map[string]any, len(content)+1)
	for key, item := range content {
		out[key] = item
	}
	out[field] = value
	return out
}

func text(value any) string {
	s, _ := value.(string)
	return s
}
