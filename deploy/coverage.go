package deploy

import (
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coverage reports whether manager still owns every field of the intent on live: whoever changes a value takes the
// field away from it. Fields that the API server never tracks are left out: apiVersion, kind, name and namespace.
func coverage(live *unstructured.Unstructured, manager string, intent map[string]any, content *knownContent) bool {
	ours, others := appliedFields(live, manager)
	if ours == nil {
		return false
	}
	return place{ours: ours, others: others, live: live.Object, content: content}.coversObject(intent)
}

// knownContent is what is known of an object's content.
type knownContent struct {
	// partial: nothing but the metadata is known. needed is set when the content has to be seen.
	partial, needed bool
	// memory has the atomic fields that other objects of the kind have shown, and gets those of this one if its content
	// is known; nil where that isn't worth it.
	memory *memory
	kind   schema.GroupVersionKind
}

// atomicField is a map or list that is owned as a whole, "atomic" as its schema says, such as the selector of a
// Service: its kind, and a number for its path. Of these managedFields have nothing but the path, and that is also what
// is left of another map when others have taken or removed all of its entries: which of both it is only the content
// tells. What the content of one object has shown holds for its kind. The items of a list have one path.
type atomicField struct {
	kind schema.GroupVersionKind
	path uint64
}

// itemPath stands for the key of a list's item.
const itemPath = "[]"

func (p place) coversObject(intent map[string]any) bool {
	for key, value := range intent {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			metadata, _ := value.(map[string]any)
			below, _ := p.field("metadata")
			below.content = &knownContent{}
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
	ours    fieldSet
	others  []fieldSet
	live    any
	content *knownContent
	// path is a number for where it is, in any object of the kind.
	path uint64
}

// field returns the place of a map's field, and whether we own it or something below it.
func (p place) field(name string) (place, bool) {
	_, ok := p.ours["f:"+name]
	content, _ := p.live.(map[string]any)
	return place{p.ours.below("f:" + name), allBelow(p.others, "f:"+name), content[name], p.content, p.below(name)}, ok
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

// below is the number of the path of a field, or of an item, where that is needed.
func (p place) below(name string) uint64 {
	if p.content.memory == nil {
		return 0
	}
	return maphash.Comparable(fingerprintSeed, struct {
		path uint64
		name string
	}{p.path, name})
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
			if len(allBelow(p.others, "f:"+name)) > 0 || !there && !isZero(item) && !p.isAtomic() && p.known() {
				return false
			}
			seen = seen || there
		}
		if seen {
			p.noteAtomic()
		}
	case []any:
		content, _ := p.live.([]any)
		if len(content) > 0 {
			p.noteAtomic()
		}
		return len(v) == 0 || len(content) > 0 || p.isAtomic() || !p.known()
	}
	return true
}

// isAtomic reports whether others of the kind have shown that here is an atomic field. An object whose content is known
// speaks for itself.
func (p place) isAtomic() bool {
	return p.content.partial && p.content.memory != nil && p.content.memory.atomic.has(atomicField{p.content.kind, p.path})
}

// noteAtomic notes that here is one: there is something in it, and nobody owns its entries.
func (p place) noteAtomic() {
	if p.content.partial || p.content.memory == nil || len(p.others) > 0 {
		return
	}
	if field := (atomicField{p.content.kind, p.path}); !p.content.memory.atomic.has(field) {
		p.content.memory.atomic.put(field, true)
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

// known reports whether the live value is known, and notes that it was asked for.
func (p place) known() bool {
	p.content.needed = p.content.needed || p.content.partial
	return !p.content.partial
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
	below := place{ours: p.ours.below(key.name), others: allBelow(p.others, key.name), content: p.content, path: p.below(itemPath)}
	if element := key.find(list); element != nil {
		below.live = element
	}
	return below
}
