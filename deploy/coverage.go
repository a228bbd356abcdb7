package deploy

import (
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coverage reports whether manager still owns every field of the intent on live. If another manager changes a field,
// the API server removes the field from our entry. The fields that the API server doesn't track don't count:
// apiVersion, kind, name and namespace.
func coverage(live *unstructured.Unstructured, manager string, intent map[string]any, content *knownContent) bool {
	ours, others := appliedFields(live, manager)
	if ours == nil {
		return false
	}
	return place{ours: ours, others: others, live: live.Object, content: content}.coversObject(intent)
}

// knownContent holds how much of an object's content is known.
type knownContent struct {
	// partial means that only the metadata is known. coverage sets needed if its result depends on the content.
	partial, needed bool
	// memory holds the atomic fields that were found in other objects of the kind. If the content is known, coverage
	// adds the atomic fields of this object. memory is nil if they aren't needed.
	memory *memory
	kind   schema.GroupVersionKind
}

// atomicField identifies an atomic map or list by its kind and a number for its path. An atomic field, such as the
// selector of a Service, is owned as a whole: managedFields have only its path. They also have only the path of a
// granular map if others have taken or removed all entries of the map. The content is needed to distinguish these two
// cases. A field that is atomic in one object is atomic in all objects of the kind. All items of a list share one path.
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

// place is one path of an object: the fields that we own there, the fields that others own there, and the live value.
type place struct {
	ours    fieldSet
	others  []fieldSet
	live    any
	content *knownContent
	// path is a number for the path. The same path has the same number in all objects of the kind.
	path uint64
}

// field returns the place of a field of a map, and reports whether we own the field or a field below it.
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

// below returns the number for the path of a field or item. It returns 0 if the number isn't needed.
func (p place) below(name string) uint64 {
	if p.content.memory == nil {
		return 0
	}
	return maphash.Comparable(fingerprintSeed, struct {
		path uint64
		name string
	}{p.path, name})
}

// leafCovers reports whether we own value. It is called if we own the path of value and no path below it. This is
// normal for scalars and for atomic lists and maps. It is also so for a granular map after others have taken or removed
// all entries. Then we don't own the value: another manager owns an entry, or an entry is missing from the live object.
// A missing zero value doesn't count, because servers drop many zero values.
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

// isAtomic reports whether another object of the kind has shown that the field is atomic. It returns false if the
// content of this object is known, because leafCovers then checks the content.
func (p place) isAtomic() bool {
	return p.content.partial && p.content.memory != nil && p.content.memory.atomic.has(atomicField{p.content.kind, p.path})
}

// noteAtomic remembers the field as atomic, unless others own fields in it. It is called for a field with content of
// which we own only the path.
func (p place) noteAtomic() {
	if p.content.partial || p.content.memory == nil || len(p.others) > 0 {
		return
	}
	if field := (atomicField{p.content.kind, p.path}); !p.content.memory.atomic.has(field) {
		p.content.memory.atomic.put(field, true)
	}
}

// coversEmpty is called for an empty list in the intent that we don't own. It reports whether the live list is empty,
// too. A list with keys, or a set, has no fields to own while it is empty.
func (p place) coversEmpty() bool {
	if len(p.others) > 0 {
		return false
	}
	content, _ := p.live.([]any)
	return !p.known() || len(content) == 0
}

// known reports whether the live value is known. If the value isn't known, known sets needed.
func (p place) known() bool {
	p.content.needed = p.content.needed || p.content.partial
	return !p.content.partial
}

// coversList checks each item by its field set. The server fills in key fields that the intent omits, such as the
// protocol of a port. An item without a key field matches any value of that field. Such an item is covered only if
// exactly one field set fits it, not counting the field sets that other items match exactly.
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
