package main

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/operkit/operkit/smp"
)

// listField is a list of a patch and what it meets in the document.
type listField struct {
	live                 any
	patch, order, remove []any
	meta                 strategicpatch.PatchMeta
}

// anyList tells whether there is such a list in a patch. Of a list that merges, each element meets every one of the
// document, and every earlier one of the patch, that has the same key.
func anyList(document, patch map[string]any, schema strategicpatch.LookupPatchMeta, such func(listField) bool) bool {
	for name, value := range patch {
		if directive, field, isDirective := strings.Cut(name, "/"); isDirective {
			_, meta, err := schema.LookupPatchMetadataForSlice(field)
			own, _ := patch[field].([]any)
			f := listField{live: document[field], patch: own, meta: meta}
			if directive == "$setElementOrder" {
				f.order, _ = value.([]any)
			} else {
				f.remove, _ = value.([]any)
			}
			if err == nil && such(f) {
				return true
			}
		}
		switch value := value.(type) {
		case map[string]any:
			live, _ := document[name].(map[string]any)
			below, _, err := schema.LookupPatchMetadataForStruct(name)
			if err == nil && anyList(live, value, below, such) {
				return true
			}
		case []any:
			below, meta, err := schema.LookupPatchMetadataForSlice(name)
			if err != nil {
				continue
			}
			if such(listField{live: document[name], patch: value, meta: meta}) {
				return true
			}
			live, _ := document[name].([]any)
			for i, element := range value {
				fields, _ := element.(map[string]any)
				key := meta.GetPatchMergeKey()
				for _, other := range append(append([]any{}, live...), value[:i]...) {
					if fields != nil && anyList(find([]any{other}, key, fields[key]), fields, below, such) {
						return true
					}
				}
				if fields != nil && anyList(nil, fields, below, such) {
					return true
				}
			}
		}
	}
	return false
}

// marksReplaced tells whether an element of a list that replaces another as a whole is marked with anything but
// replace.
func marksReplaced(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	return anyList(document, patch, schema, func(f listField) bool {
		if _, isList := f.live.([]any); !isList || merges(f.meta) {
			return false
		}
		for _, element := range f.patch {
			fields, _ := element.(map[string]any)
			if mark, marked := fields["$patch"]; marked && mark != "replace" {
				return true
			}
		}
		return false
	})
}

// marksReplacedMap tells whether a map that replaces another as a whole is marked with anything but replace and delete.
func marksReplacedMap(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	for name, value := range patch {
		live, both := document[name].(map[string]any)
		fields, isMap := value.(map[string]any)
		below, meta, err := schema.LookupPatchMetadataForStruct(name)
		if !both || !isMap || err != nil {
			continue
		}
		mark, marked := fields["$patch"]
		if replaces(meta) && marked && mark != "replace" && mark != "delete" || marksReplacedMap(live, fields, below) {
			return true
		}
	}
	return false
}

// ordersEmptily tells whether an order names nothing.
func ordersEmptily(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	return anyList(document, patch, schema, func(f listField) bool { return f.order != nil && len(f.order) == 0 })
}

// removesObjects tells whether elements are removed from a list of objects as if they were scalars.
func removesObjects(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	return anyList(document, patch, schema, func(f listField) bool {
		live, _ := f.live.([]any)
		for _, element := range append(append([]any{}, live...), append(f.patch, f.remove...)...) {
			if _, isMap := element.(map[string]any); isMap && f.remove != nil {
				return true
			}
		}
		return false
	})
}

// misfits tells whether a patch merges maps or lists where the type has neither.
func misfits(document, patch map[string]any, schema smp.Schema, fields ...string) bool {
	for name, value := range patch {
		name, isOrder := strings.CutPrefix(name, "$setElementOrder/")
		name, isRemoval := strings.CutPrefix(name, "$deleteFromPrimitiveList/")
		at := append(fields[:len(fields):len(fields)], name)
		field, known := schema.Lookup(at...)
		isList := strings.HasPrefix(field.Type, "[]")
		switch live := document[name].(type) {
		case map[string]any:
			below, both := value.(map[string]any)
			if known && both && (isList || field.Type == "scalar" || misfits(live, below, schema, at...)) {
				return true
			}
		case []any:
			elements, both := value.([]any)
			if known && (both || isOrder || isRemoval) && !isList && field.Type != "any" {
				return true
			}
			for _, element := range elements {
				for _, counterpart := range live {
					a, isMapA := element.(map[string]any)
					b, isMapB := counterpart.(map[string]any)
					if known && isMapA && isMapB && misfits(b, a, schema, at...) {
						return true
					}
				}
			}
		}
	}
	return false
}

// keyless tells whether an element of a list that merges has a key that can't be compared.
func keyless(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	return anyList(document, patch, schema, func(f listField) bool {
		key := f.meta.GetPatchMergeKey()
		if !merges(f.meta) || key == "" {
			return false
		}
		live, _ := f.live.([]any)
		for _, list := range [][]any{f.patch, f.order, live} {
			for _, element := range list {
				fields, _ := element.(map[string]any)
				switch value, has := fields[key]; value.(type) {
				case nil:
					if has {
						return true
					}
				case map[string]any, []any:
					return true
				}
			}
		}
		return false
	})
}

// mixed tells whether an order holds elements of another type than the list that it is about.
func mixed(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	return anyList(document, patch, schema, func(f listField) bool {
		live, _ := f.live.([]any)
		var first any
		for _, list := range [][]any{f.order, f.patch, live} {
			for _, element := range list {
				if first == nil {
					first = element
				}
				if len(f.order) > 0 && (element == nil || reflect.TypeOf(element) != reflect.TypeOf(first)) {
					return true
				}
			}
		}
		return false
	})
}

// retainsNameless tells whether a list of fields to keep, anywhere in a patch, holds anything but names.
func retainsNameless(patch any) bool {
	switch patch := patch.(type) {
	case map[string]any:
		keep, _ := patch["$retainKeys"].([]any)
		for _, name := range keep {
			if _, isName := name.(string); !isName {
				return true
			}
		}
		for _, value := range patch {
			if retainsNameless(value) {
				return true
			}
		}
	case []any:
		for _, element := range patch {
			if retainsNameless(element) {
				return true
			}
		}
	}
	return false
}

// repeatsScalars tells whether a list of scalars in the document that merges holds one twice. The peer writes over the
// order that it is about to restore.
func repeatsScalars(document, patch map[string]any, schema strategicpatch.LookupPatchMeta) bool {
	return anyList(document, patch, schema, func(f listField) bool {
		live, _ := f.live.([]any)
		seen := map[string]bool{}
		for _, value := range live {
			if merges(f.meta) && seen[text(value)] {
				return true
			}
			seen[text(value)] = true
		}
		return false
	})
}
