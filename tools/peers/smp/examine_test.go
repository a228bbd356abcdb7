package main

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// listField is a list of a patch and what it meets in the document.
type listField struct {
	live         any
	patch, order []any
	meta         strategicpatch.PatchMeta
}

// anyList tells whether there is such a list in a patch. Of a list that merges, each element meets every one of the
// document that has the same key.
func anyList(document, patch map[string]any, schema strategicpatch.LookupPatchMeta, such func(listField) bool) bool {
	for name, value := range patch {
		if field, isOrder := strings.CutPrefix(name, "$setElementOrder/"); isOrder {
			_, meta, err := schema.LookupPatchMetadataForSlice(field)
			order, _ := value.([]any)
			if own, _ := patch[field].([]any); err == nil && such(listField{live: document[field], patch: own, order: order, meta: meta}) {
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
			for _, element := range value {
				fields, _ := element.(map[string]any)
				key := meta.GetPatchMergeKey()
				if fields != nil && anyList(find(live, key, fields[key]), fields, below, such) {
					return true
				}
			}
		}
	}
	return false
}

// marksReplaced tells whether an element of a list that replaces another as a whole is marked with anything but replace.
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
