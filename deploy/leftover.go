package deploy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// withoutHeritage is what becomes of after, the answer to an apply as a dry run, once fields of predecessors that
// nobody else owns are gone. The cluster is asked, by a patch as a dry run, so that defaults come back. It isn't a
// replacement, for which operators have no right.
func (c comparedSet) withoutHeritage(ctx context.Context, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gone, stay := fieldSet{}, []fieldSet{}
	for _, entry := range managedEntries(after) {
		taken, left := c.heritage(entry)
		gone, stay = gone.union(taken), append(stay, left)
	}
	next := after.DeepCopy()
	withoutFields(next.Object, gone, stay)
	body, err := replacement(after, next)
	if err != nil {
		return nil, err
	}
	patch := PatchRequest{Type: types.JSONPatchType, Body: body, FieldManager: c.fieldManager, DryRun: true}
	return c.requests(c.settings).Patch(ctx, RefOf(after), patch)
}

// replacement is the JSON patch that gives an object, in the state of before or one with less in it, the content of
// next.
func replacement(before, next *unstructured.Unstructured) ([]byte, error) {
	operations := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": before.GetResourceVersion()}}
	replace := func(at string, field string, content map[string]any) {
		path := at + "/" + strings.ReplaceAll(field, "/", "~1")
		value, there := content[field]
		operations = append(operations, map[string]any{"op": "add", "path": path, "value": value})
		if !there {
			operations = append(operations, map[string]any{"op": "remove", "path": path})
		}
	}
	metadata, _ := before.Object["metadata"].(map[string]any)
	after, _ := next.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if _, there := metadata[field]; there {
			replace("/metadata", field, after)
		}
	}
	for field := range before.Object {
		if field != "apiVersion" && field != "kind" && field != "metadata" && field != "status" {
			replace("", field, next.Object)
		}
	}
	return json.Marshal(operations)
}

// withoutFields takes out of value, which it changes, what gone holds and none of stay does.
func withoutFields(value any, gone fieldSet, stay []fieldSet) any {
	for key, item := range gone {
		below, _ := item.(map[string]any)
		kept := allBelow(stay, key)
		_, itself := below["."]
		whole := len(kept) == 0 && (itself || len(below) == 0)
		if !whole && len(below) == 0 {
			continue
		}
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			withoutField(value, name, whole, below, kept)
		} else {
			value = withoutItem(value, key, whole, below, kept)
		}
	}
	return value
}

func withoutField(value any, name string, whole bool, gone fieldSet, stay []fieldSet) {
	content, isMap := value.(map[string]any)
	inner, there := content[name]
	if !isMap || !there {
		return
	}
	if !whole {
		inner = withoutFields(inner, gone, stay)
		content[name] = inner
	}
	if whole || isEmptyMap(inner) {
		delete(content, name)
	}
}

func withoutItem(value any, key string, whole bool, gone fieldSet, stay []fieldSet) any {
	list, isList := value.([]any)
	i := indexOf(list, key)
	switch {
	case !isList || i < 0:
		return value
	case whole:
		return slices.Delete(list, i, i+1)
	}
	list[i] = withoutFields(list[i], gone, stay)
	return list
}

// indexOf is where the item of a list is that a key of a field set names, -1 for nowhere. A field of the key that the
// item leaves out was filled in: such an item is meant if it is the only one that fits.
func indexOf(list []any, key string) int {
	if named, ok := listKeyOf(key); ok {
		var fitting []int
		for i, item := range list {
			element, isMap := item.(map[string]any)
			if isMap && named.isOf(element) {
				return i
			}
			if isMap && named.fits(element) {
				fitting = append(fitting, i)
			}
		}
		if len(fitting) == 1 {
			return fitting[0]
		}
		return -1
	}
	text, isValue := strings.CutPrefix(key, "v:")
	var member any
	if !isValue || json.Unmarshal([]byte(text), &member) != nil {
		return -1
	}
	return slices.IndexFunc(list, func(item any) bool { return sameScalar(item, member) })
}
