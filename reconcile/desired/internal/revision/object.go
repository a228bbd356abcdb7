package revision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind of the objects that hold revisions. Their data can't be changed, so that the children of a revision
// are in an annotation.
var Kind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ControllerRevision"}

// Read returns the history that objects hold, in any order. key is the annotation with the children.
func Read(objects []*unstructured.Unstructured, key string) (History, error) {
	var h History
	for _, obj := range objects {
		one := Revision{Name: obj.GetName()}
		one.Number, _, _ = unstructured.NestedInt64(obj.Object, "revision")
		one.Paths, _, _ = unstructured.NestedStringSlice(obj.Object, "data", "paths")
		one.Patch, _, _ = unstructured.NestedMap(obj.Object, "data", "fields")
		if text, has := obj.GetAnnotations()[key]; has {
			var err error
			if one.Children, err = parse(text); err != nil {
				return nil, fmt.Errorf("ControllerRevision %s: annotation %s: %w: restore it, or delete the object", one.Name, key, err)
			}
		}
		h = append(h, one)
	}
	slices.SortFunc(h, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	return h, nil
}

// Object returns the object of a revision.
func (r Revision) Object(namespace, key string) *unstructured.Unstructured {
	paths := make([]any, len(r.Paths))
	for i, path := range r.Paths {
		paths[i] = path
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": Kind.GroupVersion().String(), "kind": Kind.Kind,
		"metadata": map[string]any{"name": r.Name, "namespace": namespace, "annotations": map[string]any{key: r.Children.String()}},
		"data":     map[string]any{"paths": paths, "fields": r.Patch}, "revision": r.Number,
	}}
}

// String returns the names of the children by kind as JSON, such as {"Pod":["a","b"]}.
func (m Members) String() string {
	names := map[string][]string{}
	for _, child := range m.Sorted() {
		names[child.Kind.String()] = append(names[child.Kind.String()], child.Name)
	}
	text, _ := json.Marshal(names) //nolint:errchkjson // a map of strings
	return string(text)
}

// parse is the inverse of String.
func parse(text string) (Members, error) {
	var names map[string][]string
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		return nil, fmt.Errorf("isn't a JSON object of kinds and names: %w", err)
	}
	var m Members
	for kind, all := range names {
		for _, name := range all {
			if m == nil {
				m = Members{}
			}
			m[Member{schema.ParseGroupKind(kind), name}] = true
		}
	}
	return m, nil
}
