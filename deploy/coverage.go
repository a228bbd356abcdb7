package deploy

import (
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coverage reports whether manager still owns every field of the intent on live: a change by another manager takes the
// field away. It leaves out fields that the API server doesn't track: apiVersion, kind, name and namespace.
func coverage(live *unstructured.Unstructured, manager string, intent map[string]any, content *knownContent) bool {
	ours, others := appliedFields(live, manager)
	if ours == nil {
		return false
	}
	return place{ours: ours, others: others, live: live.Object, content: content}.coversObject(intent)
}

// knownContent is what is known of an object's content.
type knownContent struct {
	// partial: only the metadata is known. needed is set if the result depends on the content.
	partial, needed bool
	// memory has the atomic fields found in other objects of the kind. If the content is known, those of this object
	// are added. nil: they aren't needed.
	memory *memory
	kind   schema.GroupVersionKind
}

// atomicField identifies an atomic map or list, one that is owned as a whole, such as the selector of a Service, by its
// kind and a number for its path. managedFields hold only its path, as they do for a granular map whose entries others
// have all taken or removed. Only the content distinguishes the two. What the content of one object shows holds for all
// objects of the kind. All items of a list share one path.
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

// place is one path of an object: what we own there, what all others own there, and the live value.
type place struct {
	ours    fieldSet
	others  []fieldSet
	live    any
	content *knownContent
	// path is a number for the path, the same in all objects of the kind.
	path uint64
}

// field returns the place of a field of a map, and whether we own it or something below it.
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

// below returns the number for the path of a field or item, 0 if it isn't needed.
func (p place) below(name string) uint64 {
	if p.content.memory == nil {
		return 0
	}
	return maphash.Comparable(fingerprintSeed, struct {
		path uint64
		name string
	}{p.path, name})
}

// leafCovers reports whether we own value, given that we own its path and nothing below it. That is normal for scalars
// and for atomic lists and maps. But it is also what remains of a granular map when others have taken or removed all
// entries. In that case another manager owns an entry, or an entry is missing from the live object. A missing zero
// value doesn't count, because servers drop many of them.
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

// isAtomic reports whether another object of the kind has shown that the field is atomic. It is false if the content of
// this object is known, which is checked itself.
func (p place) isAtomic() bool {
	return p.content.partial && p.content.memory != nil && p.content.memory.atomic.has(atomicField{p.content.kind, p.path})
}

// noteAtomic remembers the field as atomic, unless others own something in it. It is called for a field with content of
// which we own only the path.
func (p place) noteAtomic() {
	if p.content.partial || p.content.memory == nil || len(p.others) > 0 {
		return
	}
	if field := (atomicField{p.content.kind, p.path}); !p.content.memory.atomic.has(field) {
		p.content.memory.atomic.put(field, true)
	}
}

// coversEmpty reports whether an empty list that we don't own is as intended. An empty list with keys, or an empty set,
// has nothing to own: it is as intended while nobody has added items.
func (p place) coversEmpty() bool {
	if len(p.others) > 0 {
		return false
	}
	content, _ := p.live.([]any)
	return !p.known() || len(content) == 0
}

// known reports whether the live value is known. If not, it sets needed.
func (p place) known() bool {
	p.content.needed = p.content.needed || p.content.partial
	return !p.content.partial
}

// coversList checks each item by its field set. The server fills in key fields that the intent omits, such as the
// protocol of a port. Such an item matches any value of the omitted field, if exactly one of the field sets that no
// other item matches exactly fits.
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
