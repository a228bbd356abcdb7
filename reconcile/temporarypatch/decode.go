package temporarypatch

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// decode reads a patch and its bodies. obj isn't changed, and nothing is shared with it.
func decode(obj *unstructured.Unstructured) (*TemporaryPatch, bodies, error) {
	patch := &TemporaryPatch{}
	if _, isMap := obj.Object["spec"].(map[string]any); !isMap {
		return nil, bodies{}, fmt.Errorf("spec is missing: name the target and the patch")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{
		"metadata": obj.Object["metadata"], "spec": obj.Object["spec"],
	}, patch); err != nil {
		return nil, bodies{}, fmt.Errorf("spec isn't a valid TemporaryPatch spec: %w", err)
	}
	b, err := bodiesOf(patch.Spec)
	if err != nil {
		return nil, bodies{}, err
	}
	return patch, b, nil
}

// bodies are the bodies of a patch, as a tree or as a list.
type bodies struct {
	tree map[string]any
	list []body
}

type body struct {
	component, object string
	content           any
}

// errNoBodies: the patch would change nothing.
var errNoBodies = errors.New("spec has neither patch nor patches: add one")

func bodiesOf(spec TemporaryPatchSpec) (bodies, error) {
	var b bodies
	given := spec.Patch != nil && len(spec.Patch.Raw) > 0
	switch {
	case given && len(spec.Patches) > 0:
		return b, fmt.Errorf("spec has both patch and patches: keep one")
	case !given && len(spec.Patches) == 0:
		return b, errNoBodies
	case given:
		var tree any
		if err := json.Unmarshal(spec.Patch.Raw, &tree); err != nil {
			return b, fmt.Errorf("spec.patch: %w", err)
		}
		object, isMap := tree.(map[string]any)
		if !isMap {
			return b, fmt.Errorf("spec.patch: not an object: write a map of components, each a map of objects")
		}
		if len(object) == 0 {
			return b, errNoBodies
		}
		b.tree = object
		return b, nil
	}
	for i, p := range spec.Patches {
		if p.Component == "" || p.Object == "" {
			return b, fmt.Errorf("spec.patches[%d]: names no component or no object", i)
		}
		next := body{component: p.Component, object: p.Object}
		if len(p.Patch.Raw) > 0 {
			if err := json.Unmarshal(p.Patch.Raw, &next.content); err != nil {
				return b, fmt.Errorf("spec.patches[%d].patch: %w", i, err)
			}
		}
		b.list = append(b.list, next)
	}
	return b, nil
}

// place is the path of a body in a patch: the keys that lead to it.
type place string

const placeSeparator = "\x00"

func placeOf(keys ...string) place { return place(strings.Join(keys, placeSeparator)) }

// String returns the place in the form that people write.
func (p place) String() string { return strings.ReplaceAll(string(p), placeSeparator, ".") }

func (p place) child(key string) place { return p + placeSeparator + place(key) }

// find returns the bodies for one object, each with its place. The keys are the names; in a tree a name may also be
// split at its dots into several keys, as in oper8. Empty bodies are ignored.
func (b bodies) find(component, object string) (content []any, at []place) {
	for _, entry := range b.list {
		if entry.component == component && entry.object == object && !empty(entry.content) {
			content, at = append(content, entry.content), append(at, placeOf(component, object))
		}
	}
	if len(b.tree) == 0 {
		return content, at
	}
	if objects, isMap := b.tree[component].(map[string]any); isMap && !empty(objects[object]) {
		return []any{objects[object]}, []place{placeOf(component, object)}
	}
	keys := strings.Split(component+"."+object, ".")
	var body any = b.tree
	for _, key := range keys {
		// A list is a body, of another object: it has no keys.
		level, _ := body.(map[string]any)
		body = level[key]
	}
	if empty(body) {
		return nil, nil
	}
	return []any{body}, []place{placeOf(keys...)}
}

// unmatched returns the places that aren't in matched, sorted by name.
func (b bodies) unmatched(matched map[place]bool) []string {
	found := map[string]bool{}
	for _, entry := range b.list {
		if at := placeOf(entry.component, entry.object); !matched[at] {
			found[at.String()] = true
		}
	}
	way := map[place]bool{}
	for at := range matched {
		keys := strings.Split(string(at), placeSeparator)
		for i := range keys[:len(keys)-1] {
			way[placeOf(keys[:i+1]...)] = true
		}
	}
	for key, value := range b.tree {
		leftOver(value, placeOf(key), 1, matched, way, found)
	}
	return sorted(found)
}

// leftOver adds the unmatched places below the place at to found. It descends one level, and goes further only on the
// way to a matched place.
func leftOver(value any, at place, depth int, matched, way map[place]bool, found map[string]bool) {
	if matched[at] {
		return
	}
	children, isMap := value.(map[string]any)
	if !isMap || len(children) == 0 || depth > 1 && !way[at] {
		found[at.String()] = true
		return
	}
	for key, child := range children {
		leftOver(child, at.child(key), depth+1, matched, way, found)
	}
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
