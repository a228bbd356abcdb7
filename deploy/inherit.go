package deploy

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inherit returns the managedFields of live in which our apply owns what predecessors own, nil if nothing can be taken
// over before our next apply. Field sets of two versions of a kind don't mix. What predecessors wrote in another
// version than the one in which we applied takes the place of our fields: the apply that follows makes those ours
// again, if the last one was all of our intent.
func (t *task) inherit(live *unstructured.Unstructured) []any {
	entries := managedEntries(live)
	version := t.inheritedVersion(live, entries)
	if version == nil {
		return nil
	}
	ours := map[string]any{"manager": t.fieldManager, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1"}
	all, out := fieldSet{}, make([]any, 0, len(entries)+1)
	for _, entry := range entries {
		taken, left := t.heritage(entry)
		same := entry["apiVersion"] == version
		switch {
		case t.isOurs(entry):
			ours["time"] = entry["time"]
			if same {
				all = all.union(left)
			}
			continue
		case same && len(taken) > 0:
			all = all.union(taken)
			if ours["time"] == nil {
				ours["time"] = entry["time"]
			}
			if len(left) == 0 {
				continue
			}
			entry = maps.Clone(entry)
			entry["fieldsV1"] = map[string]any(left)
		}
		out = append(out, entry)
	}
	ours["fieldsV1"] = map[string]any(all)
	return append(out, ours)
}

// inheritedVersion is the apiVersion of which entries are taken over first, nil for none.
func (t *task) inheritedVersion(live *unstructured.Unstructured, entries []map[string]any) any {
	var versions []any
	for _, entry := range entries {
		if taken, _ := t.heritage(entry); len(taken) > 0 {
			versions = append(versions, entry["apiVersion"])
		}
	}
	if len(versions) == 0 {
		return nil
	}
	if i := slices.IndexFunc(entries, t.isOurs); i >= 0 {
		applied := entries[i]["apiVersion"]
		if slices.Contains(versions, applied) {
			return applied
		}
		if !t.appliedLast(live) {
			return nil
		}
	}
	return versions[0]
}

// isOurs reports whether an entry of managedFields is that of our applies.
func (s *settings) isOurs(entry map[string]any) bool {
	return entry["manager"] == s.fieldManager && entry["operation"] == "Apply" && entry["subresource"] == nil
}

// union returns what is in either of two field sets, neither of which is changed.
func (f fieldSet) union(other fieldSet) fieldSet {
	out := maps.Clone(f)
	for key, value := range other {
		below, _ := value.(map[string]any)
		present, both := out[key].(map[string]any)
		if !both {
			out[key] = below
			continue
		}
		merged := fieldSet(present).union(below)
		// A leaf is the place itself, which an inner node holds by its ".".
		if (len(present) == 0 || len(below) == 0) && len(merged) > 0 {
			merged["."] = map[string]any{}
		}
		out[key] = map[string]any(merged)
	}
	return out
}
