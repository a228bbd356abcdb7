package smp

import (
	"encoding/json"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// mergedList merges or replaces a list (rules 12, 15, 16, 21).
func mergedList(live, patch []any, place schema.Place) ([]any, error) {
	if place.Strategy&schema.Merge == 0 {
		for _, element := range patch {
			fields, _ := element.(map[string]any)
			if mark, marked := fields["$patch"]; marked && mark != "replace" {
				return nil, errReference
			}
		}
		fresh, _ := cleaned(patch)
		return fresh.([]any), nil
	}
	if len(live)+len(patch) == 0 {
		return []any{}, nil
	}
	if !oneType(live, patch) {
		return nil, errReference
	}
	if jsonType(slices.Concat(live, patch)[0]) != "object" {
		if len(place.Keys) > 0 {
			return nil, errReference
		}
		return unionOf(live, patch), nil
	}
	return mergedObjects(live, patch, place)
}

// oneType is the part of rule 21 about elements: all are objects, or scalars of one type.
func oneType(lists ...[]any) bool {
	all := slices.Concat(lists...)
	for _, element := range all {
		kind := jsonType(element)
		if kind == "list" || kind == "null" || kind != jsonType(all[0]) {
			return false
		}
	}
	return true
}

// unionOf is rule 16, in the order of rule 17.
func unionOf(live, patch []any) []any {
	union := []any{}
	for _, element := range append(slices.Clone(live), patch...) {
		if !slices.ContainsFunc(union, func(other any) bool { return document.Equal(element, other) }) {
			union = append(union, element)
		}
	}
	none := schema.Place{}
	before, _ := identities(live, none)
	wanted, _ := identities(patch, none)
	ordered, _ := interleaved(union, wanted, before, none)
	return ordered
}

// mergedObjects is rule 15, in the order of rule 17.
func mergedObjects(live, patch []any, place schema.Place) ([]any, error) {
	if len(place.Keys) == 0 {
		return nil, errReference
	}
	var plain []any
	replace := false
	for _, element := range patch {
		mark, marked := element.(map[string]any)["$patch"]
		switch {
		case !marked:
			plain = append(plain, element)
		case mark == "replace":
			replace = true
		case mark == "delete":
			id, err := keyOf(element, place)
			if err != nil {
				return nil, err
			}
			live = slices.DeleteFunc(slices.Clone(live), func(old any) bool {
				oldID, err := keyOf(old, place)
				return err == nil && oldID == id
			})
		default:
			return nil, errReference
		}
	}
	if replace {
		list := literal(plain).([]any)
		_, err := identities(list, place)
		return list, err
	}
	before, err := identities(live, place)
	if err != nil {
		return nil, err
	}
	wanted, err := identities(plain, place)
	if err != nil {
		return nil, err
	}
	merged, ids := slices.Clone(live), slices.Clone(before)
	for i, element := range plain {
		at := slices.Index(ids, wanted[i])
		if at < 0 {
			fresh, _ := cleaned(element)
			merged, ids = append(merged, fresh), append(ids, wanted[i])
			continue
		}
		merged[at], err = referenceMap(merged[at].(map[string]any), element.(map[string]any), place.Type.Values.Type)
		if err != nil {
			return nil, err
		}
	}
	return interleaved(merged, wanted, before, place)
}

// keyOf is what an element is told by: its keys as JSON, or itself.
func keyOf(element any, place schema.Place) (string, error) {
	fields, isMap := element.(map[string]any)
	values := []any{element}
	if len(place.Keys) > 0 {
		values = nil
		for _, key := range place.Keys {
			value := fields[key.Name]
			if value == nil {
				value = key.Default
			}
			if !isMap || value == nil || jsonType(value) == "object" || jsonType(value) == "list" {
				return "", errReference
			}
			values = append(values, value)
		}
	}
	text, err := json.Marshal(values)
	return string(text), err
}

func identities(list []any, place schema.Place) ([]string, error) {
	ids := make([]string, len(list))
	for i, element := range list {
		id, err := keyOf(element, place)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// interleaved is rule 17: elements that are wanted in that order, the others in the order that they had before; one of
// the others comes first where it stood before the next wanted one.
func interleaved(list []any, wanted, before []string, place schema.Place) ([]any, error) {
	ids, err := identities(list, place)
	if err != nil {
		return nil, err
	}
	var named, others []int
	for i, id := range ids {
		if slices.Contains(wanted, id) {
			named = append(named, i)
		} else {
			others = append(others, i)
		}
	}
	slices.SortStableFunc(named, func(a, b int) int { return slices.Index(wanted, ids[a]) - slices.Index(wanted, ids[b]) })
	slices.SortStableFunc(others, func(a, b int) int { return slices.Index(before, ids[a]) - slices.Index(before, ids[b]) })
	out := []any{}
	for len(named) > 0 || len(others) > 0 {
		takeOther := len(named) == 0
		if len(named) > 0 && len(others) > 0 {
			a, b := slices.Index(before, ids[others[0]]), slices.Index(before, ids[named[0]])
			takeOther = a >= 0 && b >= 0 && a < b
		}
		if takeOther {
			out, others = append(out, list[others[0]]), others[1:]
		} else {
			out, named = append(out, list[named[0]]), named[1:]
		}
	}
	return out, nil
}

// setOrdered merges a list and puts it into an order (rule 18).
func setOrdered(live map[string]any, value, order any, name string, set bool, place schema.Place, known bool) error {
	wanted, isList := order.([]any)
	old, exists := live[name]
	before, oldIsList := old.([]any)
	patch, valueIsList := value.([]any)
	if !isList || exists && !oldIsList || set && !valueIsList || !known || !holds(place, schema.List) {
		return errReference
	}
	if !exists && !set {
		return nil
	}
	all := slices.Concat(before, patch, wanted)
	if !oneType(all) || len(all) > 0 && (jsonType(all[0]) == "object") != (len(place.Keys) > 0) {
		return errReference
	}
	wantedIDs, err := identities(wanted, place)
	if err != nil {
		return err
	}
	if err := checkOrder(patch, wantedIDs, place); err != nil {
		return err
	}
	merged := before
	switch {
	case !exists:
		fresh, _ := cleaned(patch)
		merged = fresh.([]any)
	case set:
		if merged, err = mergedList(before, patch, place); err != nil {
			return err
		}
	}
	// An order that names nothing puts nothing new into place.
	if len(wanted) > 0 || !set {
		remaining := stoodBefore(before, patch, place)
		if merged, err = interleaved(merged, wantedIDs, remaining, place); err != nil {
			return err
		}
	}
	live[name] = merged
	return nil
}

// stoodBefore is where elements count as having stood for the order that a patch gives: what is left of those of the
// document, then as many of the new ones as others were deleted. So it is where new ones take the places of deleted
// ones in the list that Kubernetes merges in place.
func stoodBefore(before, patch []any, place schema.Place) []string {
	stood, _ := identities(before, place)
	for _, element := range patch {
		if fields, _ := element.(map[string]any); fields["$patch"] == "delete" {
			id, _ := keyOf(element, place)
			stood = slices.DeleteFunc(stood, func(other string) bool { return other == id })
		}
	}
	for _, element := range patch {
		id, err := keyOf(element, place)
		fields, _ := element.(map[string]any)
		if err == nil && fields["$patch"] == nil && len(stood) < len(before) && !slices.Contains(stood, id) {
			stood = append(stood, id)
		}
	}
	return stood
}

// checkOrder wants the unmarked elements of a patch in the order, as a subsequence.
func checkOrder(patch []any, wanted []string, place schema.Place) error {
	if len(wanted) == 0 {
		return nil
	}
	for _, element := range patch {
		if fields, _ := element.(map[string]any); fields["$patch"] != nil {
			continue
		}
		id, err := keyOf(element, place)
		if err != nil {
			return err
		}
		at := slices.Index(wanted, id)
		if at < 0 {
			return errReference
		}
		wanted = wanted[at+1:]
	}
	return nil
}

// removeFrom is rule 19. The elements of a list of objects are deleted by marks.
func removeFrom(live map[string]any, remove any, name string, place schema.Place, known bool) error {
	if remove == nil {
		delete(live, name)
		return nil
	}
	list, isList := live[name].([]any)
	gone, both := remove.([]any)
	if !isList || !both {
		return nil
	}
	all := slices.Concat(list, gone)
	if !known || !holds(place, schema.List) || !oneType(all) || len(all) > 0 && jsonType(all[0]) == "object" {
		return errReference
	}
	live[name] = slices.DeleteFunc(slices.Clone(list), func(element any) bool {
		return slices.ContainsFunc(gone, func(other any) bool { return document.Equal(element, other) })
	})
	return nil
}
