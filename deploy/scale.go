package deploy

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withoutScaled returns object without the fields that another manager set through the scale subresource of live, as
// autoscalers and `kubectl scale` do. Such a manager decides about these fields as long as its entry in managedFields
// exists. The result shares its content with object.
func withoutScaled(object, live *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	content := object.Object
	for _, entry := range managedEntries(live) {
		if entry.isScaleOfOthers(manager) {
			content = without(content, entry.fields())
		}
	}
	return &unstructured.Unstructured{Object: content}
}

// without returns content without the leaves of fields. It copies the maps on the path. It leaves lists as they are,
// because scale subresources have no lists.
func without(content, fields map[string]any) map[string]any {
	out := maps.Clone(content)
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
				// An apply would claim ownership of an empty map itself.
				delete(out, name)
			}
		}
	}
	return out
}

// keepScaled sets in content the values of live that another manager set through the scale subresource.
func keepScaled(content map[string]any, live *unstructured.Unstructured, manager string) {
	for _, entry := range managedEntries(live) {
		if entry.isScaleOfOthers(manager) {
			keepFields(content, live.Object, entry.fields())
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

// scaledFields returns the fields of an intent, ascending, that other managers set to another value through the scale
// subresource of live. If only the metadata of live is known, it returns all fields of the intent that they set.
func scaledFields(intent, live *unstructured.Unstructured, manager string, partial bool) (found []FieldConflict) {
	for _, entry := range managedEntries(live) {
		if entry.isScaleOfOthers(manager) {
			s := scaled{manager: entry.manager(), partial: partial}
			s.fields("", intent.Object, live.Object, entry.fields())
			found = append(found, s.found...)
		}
	}
	return found
}

// scaled compares the fields that one manager set with an intent and the live object.
type scaled struct {
	manager string
	partial bool
	found   []FieldConflict
}

func (s *scaled) fields(path string, intent, live, fields map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name, isField := strings.CutPrefix(key, "f:")
		wanted, named := intent[name]
		if !isField || !named {
			continue
		}
		at := path + "." + name
		below, _ := fields[key].(map[string]any)
		inner, isMap := wanted.(map[string]any)
		current, there := live[name]
		switch {
		case len(below) > 0 && isMap:
			content, _ := current.(map[string]any)
			s.fields(at, inner, content, below)
		case len(below) > 0:
		case s.partial:
			s.found = append(s.found, FieldConflict{Field: at, Manager: s.manager, Message: "left to " + s.manager})
		case there && !sameValue(wanted, current):
			s.found = append(s.found, FieldConflict{Field: at, Manager: s.manager, Message: "left to " + s.manager + ", " + valueText(current)})
		}
	}
}
