package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TakeBack removes the ownership of fields from all other managers. The next Apply then writes the fields that its
// intent has. Use it for fields that were left to a scaler or, by Keep, to others (Result.Kept). TakeBack changes only
// managedFields, and no value. Fields are paths as in FieldConflict; a path includes all fields below it. TakeBack
// returns which fields it took from which manager, or would take in a dry run. If no Manager with this field manager
// has applied the object, the error is an *OwnedError. If one of the fields has no other owner, TakeBack returns an
// error and changes nothing. It costs two calls.
func (m *Manager) TakeBack(ctx context.Context, ref Ref, fields []string, options ...Option) ([]FieldConflict, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	requests := m.requests(s)
	for attempt := 1; ; attempt++ {
		live, err := requests.getPresent(ctx, ref)
		if err != nil {
			return nil, err
		}
		patch, taken, err := s.takeBack(ref, live, fields)
		if err != nil {
			return nil, err
		}
		_, err = requests.Patch(ctx, ref, patch)
		if !is[*StaleError](err) || attempt == maxAttempts {
			return taken, err
		}
	}
}

// takeBack returns the patch that takes fields of live from others, and the fields that it takes.
func (s settings) takeBack(ref Ref, live *unstructured.Unstructured, fields []string) (PatchRequest, []FieldConflict, error) {
	ours := func(entry managedEntry) bool { return s.isOurName(entry.manager()) }
	if !s.hasApplied(live) && !slices.ContainsFunc(managedEntries(live), ours) {
		return PatchRequest{}, nil, &OwnedError{Ref: ref}
	}
	var entries []managedEntry
	var taken []FieldConflict
	var keys [][]string
	for _, entry := range managedEntries(live) {
		if ours(entry) {
			entries = append(entries, entry)
			continue
		}
		t := taking{manager: entry.manager(), fields: fields}
		if left := t.from(nil, entry.fields()); len(left) > 0 {
			entries = append(entries, managedEntry(entry.withFields(left)))
		}
		taken, keys = append(taken, t.taken...), append(keys, t.keys...)
	}
	if len(fields) == 0 {
		return PatchRequest{}, nil, fmt.Errorf("%s: no field is named: name the fields to take back, such as spec.replicas", ref)
	}
	for _, field := range fields {
		if !slices.ContainsFunc(taken, func(c FieldConflict) bool { return isBelow(c.Field, field) }) {
			return PatchRequest{}, nil, fmt.Errorf("%s: %s: no other manager holds it: there is nothing to take back", ref, strings.TrimPrefix(field, "."))
		}
	}
	body, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
		{"op": "replace", "path": "/metadata/managedFields", "value": withoutHollow(entries, ours, keys)},
	})
	return PatchRequest{Type: types.JSONPatchType, Body: body, FieldManager: s.fieldManager, DryRun: s.dryRun}, taken, err
}

// isOurName reports whether holder is this field manager or a field manager derived from it for an owner (AdoptAlways).
func (s settings) isOurName(holder string) bool {
	rest, prefixed := strings.CutPrefix(holder, s.fieldManager)
	return prefixed && (rest == "" || rest[0] == '-' && len(rest) == len("-")+len(hashString("")))
}

// taking removes fields from the field set of one manager.
type taking struct {
	manager string
	fields  []string
	taken   []FieldConflict
	// keys are the paths of the removed fields, as keys of a field set.
	keys [][]string
}

// from returns held, which is the field set at the path keys, without the removed fields. The result is empty if no
// fields are left.
func (t *taking) from(keys []string, held map[string]any) map[string]any {
	left := make(map[string]any, len(held))
	for _, key := range slices.Sorted(maps.Keys(held)) {
		below, _ := held[key].(map[string]any)
		at := append(slices.Clip(keys), key)
		path := fieldPath(at)
		switch {
		case key == ".":
			left[key] = held[key]
		case slices.ContainsFunc(t.fields, func(field string) bool { return isBelow(path, field) }):
			t.taken = append(t.taken, FieldConflict{Field: path, Manager: t.manager, Message: "held by " + t.manager})
			t.keys = append(t.keys, at)
		case len(below) == 0:
			left[key] = held[key]
		default:
			if rest := t.from(at, below); len(rest) > 0 {
				left[key] = rest
			}
		}
	}
	return left
}

// withoutHollow removes from our own entries the leaves that are on the path to one of keys. Such a leaf was left when
// others took all fields below it. It would count as ownership of all fields below it, so the object would seem to be
// unchanged.
func withoutHollow(entries []managedEntry, ours func(managedEntry) bool, keys [][]string) []managedEntry {
	for i, entry := range entries {
		if held := entry.fields(); held != nil && ours(entry) {
			for _, way := range keys {
				held = withoutHollowAt(held, way)
			}
			entries[i] = entry.withFields(held)
		}
	}
	return entries
}

func withoutHollowAt(held map[string]any, keys []string) map[string]any {
	below, isMap := held[keys[0]].(map[string]any)
	if !isMap || len(keys) == 1 {
		return held
	}
	out := maps.Clone(held)
	if len(below) == 0 {
		delete(out, keys[0])
	} else {
		out[keys[0]] = withoutHollowAt(below, keys[1:])
	}
	return out
}

// isBelow reports whether path is field or a path below it. field may lack its leading dot.
func isBelow(path, field string) bool {
	return conflictRule{field: "." + strings.TrimPrefix(field, ".")}.holdsFor(path)
}
