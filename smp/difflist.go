package smp

import (
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// difference is the patch of one element. The patch is nil if nothing differs, and ok is false if a patch can't express
// the difference.
type difference struct {
	patch map[string]any
	ok    bool
	err   error
}

// objects puts the difference of a list of objects that merges by keys into patch.
func (d *differ) objects(patch *patchMap, key string, old, value []any, place schema.Place) (bool, error) {
	same, next := d.sameStart(old, value, place)
	if same == len(old) && same == len(value) {
		return true, nil
	}
	m, apart := d.match(old, value, same, place.Keys)
	defer d.giveBack()
	if !apart {
		// A list that is replaced keeps its order only if elements with the same key are neighbours.
		if onlyObjects(old) && grouped(value, place.Keys) {
			return d.wholeList(patch, key, value)
		}
		return false, nil
	}
	var uniform document.Uniform
	changes, named := []any{}, []int{}
	for i := same; i < len(value); i++ {
		element := value[i].(map[string]any)
		at := int(m.at[i])
		if at >= 0 && uniform.Same(old[at].(map[string]any), element) {
			continue
		}
		if i != same || at != i {
			next = d.element(i, at, old, element, place)
		}
		switch {
		case next.err != nil:
			return false, next.err
		case !next.ok, next.patch != nil && at >= 0 && !nameElement(next.patch, element, place.Keys):
			return d.wholeList(patch, key, value)
		case next.patch != nil:
			changes, named = append(changes, next.patch), append(named, i)
		}
	}
	for i, at := range m.after {
		if at < 0 {
			changes = append(changes, marked(old[i].(map[string]any), place.Keys))
		}
	}
	if len(changes) > 0 {
		patch.set(key, changes)
	}
	if !d.keepsOrder(m, named) {
		patch.set(orderDirective+"/"+key, keysOf(value, place.Keys))
	}
	return true, nil
}

// sameStart counts the equal elements at the beginning of two lists, and returns how the elements after them differ.
func (d *differ) sameStart(old, value []any, place schema.Place) (same int, next difference) {
	var uniform document.Uniform
	for ; same < len(old) && same < len(value); same++ {
		element, isMap := value[same].(map[string]any)
		if was, both := old[same].(map[string]any); both && isMap && uniform.Same(was, element) {
			continue
		}
		if !isMap {
			if document.Equal(old[same], value[same]) {
				continue
			}
			return same, difference{}
		}
		if next = d.element(same, same, old, element, place); next.patch != nil || !next.ok {
			return same, next
		}
	}
	return same, difference{}
}

// element returns the difference between element, at index i, and the element of old at index at. An at of -1 means
// that old has none.
func (d *differ) element(i, at int, old []any, element map[string]any, place schema.Place) (out difference) {
	depth := len(d.path)
	d.enterElement(i)
	defer func() { d.path = d.path[:depth] }()
	if at < 0 {
		var taken any
		if taken, out.ok, out.err = d.copied(element); out.ok {
			out.patch = taken.(map[string]any)
		}
		return out
	}
	was, isMap := old[at].(map[string]any)
	if !isMap {
		return out
	}
	out.patch, out.ok, out.err = d.maps(was, element, place.Type.Elements(), place.Strategy&schema.RetainKeys != 0)
	return out
}

// nameElement puts an element's keys into its patch. It returns false if the patch would delete a key of the element so
// that its default applies. Merging by keys can't express that.
func nameElement(patch, element map[string]any, keys []schema.Key) bool {
	for _, key := range keys {
		value, found := element[key.Name]
		if found {
			patch[key.Name] = value
		} else if _, differs := patch[key.Name]; differs {
			return false
		}
	}
	return true
}

// wholeList puts the replacement of a list of objects into patch.
func (d *differ) wholeList(patch *patchMap, key string, value []any) (bool, error) {
	copied, err := d.literal(value)
	if err != nil {
		return false, err
	}
	patch.set(key, append([]any{map[string]any{patchDirective: replaceValue}}, copied.([]any)...))
	return true, nil
}

func onlyObjects(list []any) bool {
	return !slices.ContainsFunc(list, func(value any) bool { _, isMap := value.(map[string]any); return !isMap })
}

// keysOf returns copies of the elements that have only their keys.
func keysOf(list []any, keys []schema.Key) []any {
	out := make([]any, len(list))
	for i, value := range list {
		out[i] = onlyKeys(value.(map[string]any), keys)
	}
	return out
}

func onlyKeys(element map[string]any, keys []schema.Key) map[string]any {
	out := make(map[string]any, len(keys)+1)
	for _, key := range keys {
		if value, found := element[key.Name]; found {
			out[key.Name] = value
		}
	}
	return out
}

// marked returns the patch that deletes an element.
func marked(element map[string]any, keys []schema.Key) map[string]any {
	out := onlyKeys(element, keys)
	out[patchDirective] = deleteElement
	return out
}

// scalars puts the difference of a list of scalars that merges as a set into patch.
func (d *differ) scalars(patch *patchMap, key string, old, value []any) (bool, error) {
	m, apart := d.match(old, value, 0, nil)
	defer d.giveBack()
	if !apart || !ofOneType(old, value) {
		return false, nil
	}
	var added, removed []any
	var named []int
	for i, at := range m.at {
		if at < 0 {
			added, named = append(added, value[i]), append(named, i)
		}
	}
	for i, at := range m.after {
		if at < 0 {
			removed = append(removed, old[i])
		}
	}
	if len(added) > 0 {
		patch.set(key, added)
	}
	if len(removed) > 0 {
		patch.set(deleteDirective+"/"+key, removed)
	}
	if !d.keepsOrder(m, named) {
		patch.set(orderDirective+"/"+key, slices.Clone(value))
	}
	return true, nil
}

// ofOneType reports whether all elements are scalars of one type.
func ofOneType(lists ...[]any) bool {
	all := slices.Concat(lists...)
	return !slices.ContainsFunc(all, func(value any) bool { return kindOfElement(value) != kindOfElement(all[0]) })
}
