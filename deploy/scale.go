package deploy

import (
	"maps"
	"slices"
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
		if entry.isScaleOfOthers(manager) {
			content = without(content, entry.fields())
		}
	}
	return &unstructured.Unstructured{Object: content}
}

// without copies the path to each leaf of fields that content holds and leaves it out.
// Lists are kept: scale subresources have none.
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

// scaledFields are the fields of an intent, ascending, that other managers set through the scale subresource of live to
// another value than the intent's, or to one that isn't known because of live only the metadata is.
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

// scaled walks what one manager set, an intent, and the object side by side.
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
