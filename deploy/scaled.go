package deploy

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scaledFields are the fields of an intent, ascending, that other managers set through the scale subresource of live to
// another value than the intent's, or to one that isn't known because of live only the metadata is.
func scaledFields(intent, live *unstructured.Unstructured, manager string, partial bool) (found []FieldConflict) {
	for _, entry := range managedEntries(live) {
		holder, _ := entry["manager"].(string)
		fields, _ := entry["fieldsV1"].(map[string]any)
		if entry["subresource"] != "scale" || holder == manager {
			continue
		}
		s := scaled{manager: holder, partial: partial}
		s.fields("", intent.Object, live.Object, fields)
		found = append(found, s.found...)
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
