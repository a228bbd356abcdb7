package deploy

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coverage tells whether manager still owns every field of the intent on live. Fields that
// the API server never tracks are left out: apiVersion, kind, name and namespace. by says how much
// is known of live.
func coverage(live *unstructured.Unstructured, manager string, intent map[string]any, by *sight) bool {
	ours, others := appliedFields(live, manager)
	if ours == nil {
		return false
	}
	return place{ours: ours, others: others, live: live.Object, sight: by}.coversObject(intent)
}

// sight is what is known of an object's content.
type sight struct {
	// partial: nothing but the metadata is known. doubtful is set when the content has to be seen.
	partial, doubtful bool
	// wholes are what was learnt of objects of the kind, and is learnt of this one if its content is known; nil where that
	// isn't worth it.
	wholes *wholes
	kind   schema.GroupVersionKind
}

func (p place) coversObject(intent map[string]any) bool {
	for key, value := range intent {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			metadata, _ := value.(map[string]any)
			below, _ := p.field("metadata")
			below.sight = &sight{}
			for name, item := range metadata {
				if name != "name" && name != "namespace" && !below.coversField(name, item) {
					return false
				}
			}
		default:
			if !p.coversField(key, value) {
				return false
			}
		}
	}
	return true
}

// place is one path of an object: what we own there, what everybody else owns there, and
// the value that is there.
type place struct {
	ours   fieldSet
	others []fieldSet
	live   any
	sight  *sight
	// path is a number for where it is, in any object of the kind.
	path uint64
}

// field returns the place of a map's field, and whether we own it or something below it.
func (p place) field(name string) (place, bool) {
	_, ok := p.ours["f:"+name]
	content, _ := p.live.(map[string]any)
	return place{p.ours.below("f:" + name), allBelow(p.others, "f:"+name), content[name], p.sight, p.below(name)}, ok
}

func (p place) coversField(name string, value any) bool {
	below, ok := p.field(name)
	if list, isList := value.([]any); isList && len(list) == 0 && !ok {
		return below.coversEmpty()
	}
	return ok && below.covers(value)
}

func (p place) covers(value any) bool {
	if len(p.ours) == 0 {
		return p.leafCovers(value)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			if !p.coversField(name, item) {
				return false
			}
		}
	case []any:
		return p.coversList(v)
	}
	return true
}

// below is the path of a field, or of an item, where that is needed.
func (p place) below(name string) uint64 {
	if p.sight.wholes == nil {
		return 0
	}
	return pathBelow(p.path, name)
}

// leafCovers judges a value of which we own the path alone. Mostly it is a scalar, or a list
// or map that is owned as a whole. But the entries of a free map are paths of their own: of
// such a map only its path remains when others have taken or removed all that was below it.
// Then another manager owns something there, or it isn't there any more. (A zero value may
// be absent: servers leave out many of them.)
func (p place) leafCovers(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		content, _ := p.live.(map[string]any)
		seen := false
		for name, item := range v {
			_, there := content[name]
			if len(allBelow(p.others, "f:"+name)) > 0 || !there && !isZero(item) && !p.isWhole() && p.known() {
				return false
			}
			seen = seen || there
		}
		if seen {
			p.learn()
		}
	case []any:
		content, _ := p.live.([]any)
		if len(content) > 0 {
			p.learn()
		}
		return len(v) == 0 || len(content) > 0 || p.isWhole() || !p.known()
	}
	return true
}

// isWhole tells whether others of the kind have shown that there is a map or list which is owned as a whole. An object whose
// content is known speaks for itself.
func (p place) isWhole() bool {
	return p.sight.partial && p.sight.wholes != nil && p.sight.wholes.has(whole{p.sight.kind, p.path})
}

// learn notes that here is one: there is something in it, and nobody owns its entries.
func (p place) learn() {
	if !p.sight.partial && p.sight.wholes != nil && len(p.others) == 0 {
		p.sight.wholes.add(whole{p.sight.kind, p.path})
	}
}

// coversEmpty judges an empty list that isn't among our fields: of one with keys, or of a set, nothing is
// there to be owned. It is as it should be while nobody has put anything in.
func (p place) coversEmpty() bool {
	if len(p.others) > 0 {
		return false
	}
	content, _ := p.live.([]any)
	return !p.known() || len(content) == 0
}

// known tells whether the live value is known, and notes that it was asked for.
func (p place) known() bool {
	if p.sight.partial {
		p.sight.doubtful = true
	}
	return !p.sight.partial
}

// coversList finds the field set of each item. A key field that the intent leaves out, such
// as the protocol of a port, was filled by the server: such an item matches any value of
// it, if only one field set fits that no other item names in full.
func (p place) coversList(items []any) bool {
	free := p.ours.listKeys()
	var partial []map[string]any
	for _, item := range items {
		element, isMap := item.(map[string]any)
		if !isMap {
			if !p.ours.holdsValue(item) {
				return false
			}
			continue
		}
		i := slices.IndexFunc(free, func(k listKey) bool { return k.isOf(element) })
		if i < 0 {
			partial = append(partial, element)
			continue
		}
		if !p.item(free[i]).covers(element) {
			return false
		}
		free = slices.Delete(free, i, i+1)
	}
	for _, element := range partial {
		fitting := slices.DeleteFunc(slices.Clone(free), func(k listKey) bool { return !k.fits(element) })
		if len(fitting) != 1 || !p.item(fitting[0]).covers(element) {
			return false
		}
	}
	return true
}

// item returns the place of the list item with a key.
func (p place) item(key listKey) place {
	list, _ := p.live.([]any)
	below := place{ours: p.ours.below(key.name), others: allBelow(p.others, key.name), sight: p.sight, path: p.below(itemPath)}
	if element := key.find(list); element != nil {
		below.live = element
	}
	return below
}

func isZero(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return value == nil || reflect.ValueOf(value).IsZero()
}
