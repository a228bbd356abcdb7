package deploy

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scalesOf returns the entries of managedFields for the scale subresource, except for those of manager. Autoscalers and
// `kubectl scale` write through this subresource. The manager of an entry decides about the entry's fields as long as
// the entry exists.
func scalesOf(live *unstructured.Unstructured, manager string) []managedEntry {
	return slices.DeleteFunc(managedEntries(live), func(entry managedEntry) bool {
		return entry["subresource"] != "scale" || entry["manager"] == manager || len(entry.fields()) == 0
	})
}

// withoutScaled returns object without the fields that another manager set through the scale subresource of live. The
// result may share its content with object.
func withoutScaled(object, live *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	var scaled [][]string
	for _, entry := range scalesOf(live, manager) {
		scaled = append(scaled, entry.fields().leaves()...)
	}
	return &unstructured.Unstructured{Object: withoutKeys(object.Object, scaled...)}
}

// keepScaled copies to object the values of live that another manager set through the scale subresource.
func keepScaled(object, live *unstructured.Unstructured, manager string) {
	for _, entry := range scalesOf(live, manager) {
		object.Object, _ = filled(entry.fields().of(live.Object), object.Object).(map[string]any)
	}
}

// scaledFields returns the fields of an intent to which other managers gave another value through the scale subresource
// of live. The fields of one manager are sorted by path. If only the metadata of live is known, it returns all fields
// of the intent that other managers set in this way.
func scaledFields(intent, live *unstructured.Unstructured, ours string, partial bool) (found []FieldConflict) {
	for _, entry := range scalesOf(live, ours) {
		manager := entry.manager()
		for _, keys := range entry.fields().leaves() {
			field := FieldConflict{Field: fieldPath(keys), Manager: manager, Message: "left to " + manager}
			path := fieldSteps(field.Field)
			wanted, isWanted := valueAt(intent.Object, path)
			current, isThere := valueAt(live.Object, path)
			if !partial && isThere {
				field.Message += ", which set " + valueText(current)
			}
			if isWanted && (partial || isThere && !sameValue(wanted, current)) {
				found = append(found, field)
			}
		}
	}
	return found
}
