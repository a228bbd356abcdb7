package deploy

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withoutScaled returns object without the fields that another manager set through the
// scale subresource of live, which is how autoscalers and `kubectl scale` write. While
// their entry is there they decide; with it gone the fields are ours again. The result
// shares with object what it doesn't leave out.
func withoutScaled(object, live *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	content := object.Object
	for _, entry := range managedEntries(live) {
		if entry["subresource"] != "scale" || entry["manager"] == manager {
			continue
		}
		if fields, ok := entry["fieldsV1"].(map[string]any); ok {
			content = without(content, fields)
		}
	}
	return &unstructured.Unstructured{Object: content}
}

// without copies the path to each leaf of fields that content holds and leaves it out.
// Lists are kept: scale subresources have none.
func without(content, fields map[string]any) map[string]any {
	out := make(map[string]any, len(content))
	for key, value := range content {
		out[key] = value
	}
	for key, below := range fields {
		name, ok := strings.CutPrefix(key, "f:")
		if _, held := out[name]; !ok || !held {
			continue
		}
		subfields, _ := below.(map[string]any)
		if len(subfields) == 0 {
			delete(out, name)
		} else if child, isMap := out[name].(map[string]any); isMap {
			rest := without(child, subfields)
			out[name] = rest
			if len(rest) == 0 && len(child) > 0 {
				// A map of nothing but scaled fields would claim the map itself instead.
				delete(out, name)
			}
		}
	}
	return out
}

// keepScaled gives content the values that live has where another manager set them through the scale
// subresource.
func keepScaled(content map[string]any, live *unstructured.Unstructured, manager string) {
	for _, entry := range managedEntries(live) {
		if fields, ok := entry["fieldsV1"].(map[string]any); ok && entry["subresource"] == "scale" && entry["manager"] != manager {
			keepFields(content, live.Object, fields)
		}
	}
}

func keepFields(content, live, fields map[string]any) {
	for key, below := range fields {
		name, isField := strings.CutPrefix(key, "f:")
		value, there := live[name]
		if !isField || !there {
			continue
		}
		subfields, _ := below.(map[string]any)
		inner, isMap := content[name].(map[string]any)
		from, ok := value.(map[string]any)
		switch {
		case len(subfields) == 0:
			content[name] = value
		case isMap && ok:
			keepFields(inner, from, subfields)
		}
	}
}
