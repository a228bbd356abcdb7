package main

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// tidied is the patch without what the peer would leak into its result: nulls and directives in values that it takes as
// they are. What is new, an element that is appended or a list that is replaced, comes without nulls, directives and
// what is marked for deletion; a new map that is marked with $patch: replace comes without the mark; what replaces a
// map literally keeps its nulls. An order that names nothing, for a list of which the document has no elements, or one
// about two empty lists isn't there: the peer sorts by a comparison that contradicts itself, or fails. A mark that
// replaces a list comes first: behind the last element of an order the peer doesn't see that it is one.
//
// The peer applied to it has to give what smp makes of the patch itself.
func tidied(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) map[string]any {
	out := runtime.DeepCopyJSON(patch)
	tidyMap(document, out, schema)
	return out
}

func tidyMap(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) {
	if mark, marked := patch["$patch"]; marked {
		if mark == "replace" {
			literal := without(patch, true).(map[string]any)
			clear(patch)
			for name, value := range literal {
				patch[name] = value
			}
			patch["$patch"] = "replace"
		}
		return
	}
	for name, value := range patch {
		if strings.HasPrefix(name, "$") {
			continue
		}
		switch value := value.(type) {
		case map[string]any:
			live, both := document[name].(map[string]any)
			below, meta, err := schema.LookupPatchMetadataForStruct(name)
			switch {
			case !both && value["$patch"] == "replace":
				patch[name] = without(value, true)
			case !both:
				patch[name] = unmarked(value)
			case err == nil && replaces(meta) && value["$patch"] == "delete":
				patch[name] = map[string]any{}
			case err == nil && replaces(meta):
				patch[name] = without(value, false)
			case err == nil:
				tidyMap(live, value, below)
			}
		case []any:
			live, both := document[name].([]any)
			below, meta, err := schema.LookupPatchMetadataForSlice(name)
			switch {
			case !both || err == nil && !merges(meta):
				patch[name] = without(value, false)
			case err == nil:
				tidyList(live, value, below, meta.GetPatchMergeKey())
			}
		}
	}
	for name, order := range patch {
		if field, isOrder := strings.CutPrefix(name, "$setElementOrder/"); isOrder && ordersNothing(order, document[field], patch[field]) {
			delete(patch, name)
		}
	}
}

func ordersNothing(order, live, patch any) bool {
	list, isList := order.([]any)
	a, isListA := live.([]any)
	b, isListB := patch.([]any)
	return isList && len(a) == 0 && (len(list) == 0 || (isListA || isListB) && len(b) == 0)
}

func replaces(meta strategicpatch.PatchMeta) bool {
	for _, strategy := range meta.GetPatchStrategies() {
		if strategy == "replace" {
			return true
		}
	}
	return false
}

// unmarked is a new map, which the peer itself drops when it is marked.
func unmarked(value map[string]any) any {
	if mark := value["$patch"]; mark != nil {
		return map[string]any{"$patch": mark}
	}
	return without(value, false)
}

func tidyList(live, patch []any, below strategicpatch.LookupPatchMeta, key string) {
	replaced := false
	for _, element := range patch {
		fields, _ := element.(map[string]any)
		replaced = replaced || fields["$patch"] == "replace"
		if fields["$patch"] == "delete" {
			live = slices.DeleteFunc(slices.Clone(live), func(element any) bool {
				return find([]any{element}, key, fields[key]) != nil
			})
		}
	}
	slices.SortStableFunc(patch, func(a, b any) int { return marked(b) - marked(a) })
	for i, element := range patch {
		fields, isMap := element.(map[string]any)
		if _, marked := fields["$patch"]; !isMap || marked {
			continue
		}
		if replaced {
			patch[i] = without(fields, true)
			continue
		}
		counterpart := find(live, key, fields[key])
		if counterpart == nil {
			// Later elements of the same key merge into this one.
			patch[i] = without(fields, false)
			live = append(live[:len(live):len(live)], patch[i])
			continue
		}
		tidyMap(counterpart, fields, below)
		// A later element of the same key meets what this one makes of it.
		merged := peerMerge(counterpart, fields, below)
		at := slices.IndexFunc(live, func(element any) bool { return find([]any{element}, key, fields[key]) != nil })
		if !merged.failed() {
			live = slices.Clone(live)
			live[at] = merged.result
		}
	}
}

// marked is 1 for an element that is marked with replace.
func marked(element any) int {
	if fields, _ := element.(map[string]any); fields["$patch"] == "replace" {
		return 1
	}
	return 0
}

func find(list []any, key string, value any) map[string]any {
	for _, element := range list {
		fields, isMap := element.(map[string]any)
		if got, has := fields[key]; isMap && has && reflect.DeepEqual(got, value) {
			return fields
		}
	}
	return nil
}

// without is a value without directives, without maps that are marked with anything but replace, and without nulls in
// maps unless they are to be kept or the map is marked with replace.
func without(value any, nulls bool) any {
	switch value := value.(type) {
	case map[string]any:
		if value["$patch"] == "replace" {
			nulls = true
		}
		out := map[string]any{}
		for name, field := range value {
			if isDirective(name) || field == nil && !nulls || dropped(field) {
				continue
			}
			out[name] = without(field, nulls)
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, element := range value {
			fields, _ := element.(map[string]any)
			if fields["$patch"] != nil {
				continue
			}
			out = append(out, without(element, nulls))
		}
		return out
	default:
		return value
	}
}

// dropped tells whether a map is marked with anything but replace. A mark that is null is none in what is new.
func dropped(field any) bool {
	fields, _ := field.(map[string]any)
	mark := fields["$patch"]
	return mark != nil && mark != "replace"
}

func isDirective(name string) bool {
	return name == "$patch" || name == "$retainKeys" || name == "$deleteFromPrimitiveList" || name == "$setElementOrder" ||
		strings.HasPrefix(name, "$deleteFromPrimitiveList/") || strings.HasPrefix(name, "$setElementOrder/")
}

// holdsDirective tells whether there is a directive anywhere in a value.
func holdsDirective(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if isDirective(name) || holdsDirective(field) {
				return true
			}
		}
	case []any:
		for _, element := range value {
			if holdsDirective(element) {
				return true
			}
		}
	}
	return false
}

// replacesNew tells whether a map of a patch is marked with replace where the document has none. Of elements of lists
// it says so always.
func replacesNew(document, patch any) bool {
	switch patch := patch.(type) {
	case map[string]any:
		live, _ := document.(map[string]any)
		if patch["$patch"] == "replace" && live == nil {
			return true
		}
		for name, field := range patch {
			if replacesNew(live[name], field) {
				return true
			}
		}
	case []any:
		for _, element := range patch {
			if replacesNew(nil, element) {
				return true
			}
		}
	}
	return false
}
