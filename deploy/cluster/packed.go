package cluster

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// record is an object of which only the metadata is held, in a fraction of the memory that maps take: of each map its
// values, beside keys that all maps of its shape have in common.
type record struct {
	metadata *packedMap
	// recent is the object as it was put in or shown last, for a while.
	recent atomic.Pointer[unstructured.Unstructured]
}

// newRecord returns the record of an object.
func (c *common) newRecord(obj *unstructured.Unstructured) *record {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	r := &record{metadata: c.pack(metadata)}
	if len(obj.Object) == 3 { // apiVersion, kind, metadata
		c.recent.keep(r, obj)
	}
	return r
}

// show returns the object, which has nothing but metadata. It is safe for concurrent use.
func (c *common) show(r *record, kind schema.GroupVersionKind) *unstructured.Unstructured {
	if obj := r.recent.Load(); obj != nil {
		return obj
	}
	version, name := kind.ToAPIVersionAndKind()
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": name, "metadata": unpacked(r.metadata)}}
	c.recent.keep(r, obj)
	return obj
}

// recentRecords are those whose objects are at hand: who is told of an object looks at it again soon.
type recentRecords struct {
	mu   sync.Mutex
	ring [recentPlaces]*record
	next int
}

// recentPlaces is enough for what is in work at a time.
const recentPlaces = 1 << 6

// keep has obj at hand in the place of the one that has been for longest.
func (h *recentRecords) keep(r *record, obj *unstructured.Unstructured) {
	r.recent.Store(obj)
	h.mu.Lock()
	defer h.mu.Unlock()
	if oldest := h.ring[h.next]; oldest != nil && oldest != r {
		oldest.recent.Store(nil)
	}
	h.ring[h.next] = r
	h.next = (h.next + 1) % recentPlaces
}

// shape are the keys of maps, ascending.
type shape struct{ keys []string }

type packedMap struct {
	shape  *shape
	values []any
}

type packedList struct{ items []any }

// pack returns the metadata of an object with everything in it that isn't needed again and again left out, see needed. The
// map itself is never equal to another one's; what is in it is kept once for all that have it.
func (c *common) pack(metadata map[string]any) *packedMap {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := sortedKeys(metadata)
	values := make([]any, len(keys))
	for i, key := range keys {
		value := metadata[key]
		if items, ok := value.([]any); ok && key == "managedFields" {
			value = neededEntries(items)
		}
		packed, hash, _ := c.packed(value)
		if key == "namespace" {
			packed = c.text(hash, packed)
		}
		values[i] = packed
	}
	return &packedMap{c.shape(keys), values}
}

// neededEntries are those of managedFields by which a Manager sees who owns what.
func neededEntries(all []any) []any {
	entries := make([]any, 0, len(all))
	for _, item := range all {
		entry, _ := item.(map[string]any)
		if entry["subresource"] == "status" {
			continue
		}
		if timeless(entry) {
			entry = cloneWithout(entry, "time")
			item = entry
		}
		entries = append(entries, item)
	}
	return entries
}

// packed is part for values that are held packed.
func (c *common) packed(value any) (packed any, hash uint64, size int) {
	switch v := value.(type) {
	case map[string]any:
		if s, ok := c.standing[pointerTo(v)]; ok {
			return s, s.hash, s.size
		}
		keys := sortedKeys(v)
		node := &packedMap{values: make([]any, len(keys))}
		hash, size = uint64(len(keys))+0x9e3779b97f4a7c15, 1
		for i, key := range keys {
			inner, innerHash, innerSize := c.packed(v[key])
			node.values[i] = c.text(innerHash, inner)
			hash = mix(hash, mix(maphash.String(c.seed, key), innerHash))
			size += innerSize + 1
		}
		node.shape = c.shape(keys)
		if size > commonSize {
			return node, hash, size
		}
		return c.once(hash, node), hash, size
	case []any:
		node := &packedList{items: make([]any, len(v))}
		hash, size = uint64(len(v))+0xc2b2ae3d27d4eb4f, 1
		for i, item := range v {
			inner, innerHash, innerSize := c.packed(item)
			node.items[i] = c.text(innerHash, inner)
			hash = mix(hash, innerHash)
			size += innerSize
		}
		if size > commonSize {
			return node, hash, size
		}
		return c.once(hash, node), hash, size
	}
	return c.part(value)
}

// shape returns the one of maps with these keys, which become its own.
func (c *common) shape(keys []string) *shape {
	hash := uint64(0x27d4eb2f165667c5)
	for i, key := range keys {
		keyHash := maphash.String(c.seed, key)
		keys[i] = c.key(keyHash, key)
		hash = mix(hash, keyHash)
	}
	shared, _ := c.once(hash, &shape{keys}).(*shape)
	return shared
}

func sortedKeys(content map[string]any) []string {
	keys := make([]string, 0, len(content))
	for key := range content {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// isSamePacked is isSame for what is packed.
func isSamePacked(a, b any) bool {
	switch a := a.(type) {
	case *packedMap:
		other, ok := b.(*packedMap)
		return ok && (a == other || a.shape == other.shape && slices.EqualFunc(a.values, other.values, isSame))
	case *packedList:
		other, ok := b.(*packedList)
		return ok && (a == other || slices.EqualFunc(a.items, other.items, isSame))
	case *shape:
		other, ok := b.(*shape)
		return ok && (a == other || slices.Equal(a.keys, other.keys))
	}
	return a == b
}

// unpacked is a value as it was before it was packed.
func unpacked(value any) any {
	switch v := value.(type) {
	case *packedMap:
		content := make(map[string]any, len(v.values))
		for i, key := range v.shape.keys {
			content[key] = unpacked(v.values[i])
		}
		return content
	case *packedList:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = unpacked(item)
		}
		return items
	case *standing:
		return v.content
	}
	return value
}
