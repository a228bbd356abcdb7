package cluster

import (
	"hash/maphash"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Bounds of what is kept in common. What has been seen twice takes the place of something else, so that the memory of
// a common is bounded whatever it is shown.
const (
	commonSets, commonPlaces = 1 << 10, 4
	// commonSize is how large a part may be, in values, and commonText a text, in bytes.
	commonSize = 1 << 10
	commonText = 1 << 7
)

// common keeps equal parts of objects once: keys, and what a template has rendered into all of them, down to who owns
// which field. It is safe for concurrent use.
type common struct {
	seed maphash.Seed

	mu   sync.Mutex
	sets [commonSets]commonSet
	// entries are those of the maps that are being looked at.
	entries []entry
	// template is room for the text of a field set.
	template []byte
	// texts and keys are room for those of the object that is being packed.
	texts []byte
	keys  []string
	// standing are the maps of field sets by where they are.
	standing map[unsafe.Pointer]*standing

	recent recentRecords
}

// commonSet are the parts whose hashes have some bits in common: of those that came once the hashes, the latest first,
// and those that came again, the last used first.
type commonSet struct {
	seen  [commonPlaces]uint64
	parts [commonPlaces]commonPart
}

type commonPart struct {
	hash  uint64
	value any
}

func newCommon() *common {
	return &common{seed: maphash.MakeSeed(), standing: map[unsafe.Pointer]*standing{}}
}

// share puts what an object has in common with others in the place of its own. obj is changed, and nobody may change
// it afterwards.
func (c *common) share(obj *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The object and its metadata are never equal to those of another one.
	metadata, _ := obj.Object["metadata"].(map[string]any)
	c.inside(metadata)
	for key, value := range obj.Object {
		if key != "metadata" {
			shared, _, _ := c.part(value)
			obj.Object[c.key(maphash.String(c.seed, key), key)] = shared
		}
	}
}

// needed is a shared object without what nobody needs who reads it again and again: of managedFields it has the
// entries by which a Manager sees who owns what. The time of a write, which is different in each object, counts only for
// who has put no more than marks onto the metadata; a status is no field of an intent.
func (c *common) needed(obj *unstructured.Unstructured) *unstructured.Unstructured {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	all, ok := metadata["managedFields"].([]any)
	if !ok {
		return obj
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entries := make([]any, 0, len(all))
	for _, item := range all {
		entry, _ := item.(map[string]any)
		if entry["subresource"] == "status" {
			continue
		}
		if timeless(entry) {
			item = c.again(cloneWithout(entry, "time"))
		}
		entries = append(entries, item)
	}
	content, metadata := maps.Clone(obj.Object), maps.Clone(metadata)
	content["metadata"], metadata["managedFields"] = metadata, c.again(slices.Clip(entries))
	return &unstructured.Unstructured{Object: content}
}

// timeless tells whether nobody needs the time of an entry of managedFields.
func timeless(entry map[string]any) bool {
	fields, _ := entry["fieldsV1"].(map[string]any)
	return entry["time"] != nil && (len(fields) > 1 || fields["f:metadata"] == nil)
}

func cloneWithout(content map[string]any, key string) map[string]any {
	content = maps.Clone(content)
	delete(content, key)
	return content
}

// again returns what stands for a new map or list of which all that is inside is shared already, so that it is enough to
// tell which maps and lists these are.
func (c *common) again(value any) any {
	hash := uint64(0x165667b19e3779f9)
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			hash += mix(maphash.String(c.seed, key), c.identity(inner))
		}
	case []any:
		for _, inner := range v {
			hash = mix(hash, c.identity(inner))
		}
	}
	return c.once(hash, value)
}

func (c *common) identity(value any) uint64 {
	switch v := value.(type) {
	case map[string]any, []any:
		return uint64(reflect.ValueOf(v).Pointer())
	case string:
		return maphash.String(c.seed, v)
	}
	return 0
}

// inside shares the keys of a map that is never equal to another one, and what is below them.
func (c *common) inside(content map[string]any) {
	for key, value := range content {
		shared, hash, _ := c.part(value)
		if key == "namespace" {
			shared = c.text(hash, value)
		}
		content[c.key(maphash.String(c.seed, key), key)] = shared
	}
}

// text shares a text that many have.
func (c *common) text(hash uint64, value any) any {
	if text, ok := value.(string); ok && len(text) <= commonText {
		return c.once(hash, value)
	}
	return value
}

// part returns a value equal to the given one, which others may have too, and its hash and size. What is inside is
// replaced. Texts are shared with the map or list that they are in, by themselves only if that differs from all others.
func (c *common) part(value any) (shared any, hash uint64, size int) {
	switch v := value.(type) {
	case string:
		return value, maphash.String(c.seed, v), 1
	case map[string]any:
		return c.object(v)
	case []any:
		return c.list(v)
	case int64:
		return value, mix(1, uint64(v)), 1
	case float64:
		return value, mix(2, math.Float64bits(v)), 1
	case bool:
		if v {
			return value, 3, 1
		}
		return value, 4, 1
	}
	return value, 5, 1
}

// entry is one of a map while it isn't known yet whether it is equal to another one.
type entry struct {
	key           string
	hash, ofValue uint64
	value         any
}

func (c *common) object(content map[string]any) (shared any, hash uint64, size int) {
	hash, size = uint64(len(content))+0x9e3779b97f4a7c15, 1
	first := len(c.entries)
	for key, inner := range content {
		shared, innerHash, innerSize := c.part(inner)
		keyHash := maphash.String(c.seed, key)
		hash += mix(keyHash, innerHash) // the sum doesn't depend on the order
		size += innerSize + 1
		c.entries = append(c.entries, entry{key, keyHash, innerHash, shared})
	}
	entries := c.entries[first:]
	c.entries = c.entries[:first]
	if size <= commonSize {
		if known := c.known(hash, content); known != nil {
			clear(entries)
			return known, hash, size
		}
	}
	for _, e := range entries {
		content[c.key(e.hash, e.key)] = c.text(e.ofValue, e.value)
	}
	clear(entries)
	if size <= commonSize {
		c.remember(hash, content)
	}
	return content, hash, size
}

func (c *common) list(items []any) (shared any, hash uint64, size int) {
	hash, size = uint64(len(items))+0xc2b2ae3d27d4eb4f, 1
	for i, inner := range items {
		shared, innerHash, innerSize := c.part(inner)
		items[i] = shared
		hash = mix(hash, innerHash)
		size += innerSize
	}
	if size > commonSize {
		return items, hash, size
	}
	return c.once(hash, items), hash, size
}

func mix(a, b uint64) uint64 {
	a = (a ^ b>>29) * 0xbf58476d1ce4e5b9
	b = (b ^ a>>31) * 0x94d049bb133111eb
	return a ^ b ^ b>>27
}

// key is text for keys, which are looked up so often that they aren't made values for it.
func (c *common) key(hash uint64, key string) string {
	if len(key) > commonText {
		return key
	}
	set := &c.sets[hash%commonSets]
	for i := range set.parts {
		if part := &set.parts[i]; part.hash == hash {
			if shared, ok := part.value.(string); ok && shared == key {
				return shared
			}
		}
	}
	shared, _ := c.once(hash, key).(string)
	return shared
}

// once returns the value that stands for all that are equal to the given one.
func (c *common) once(hash uint64, value any) any {
	if known := c.known(hash, value); known != nil {
		return known
	}
	c.remember(hash, value)
	return value
}

// known returns what stands for all that are equal to value, nil if nothing does.
func (c *common) known(hash uint64, value any) any {
	set := &c.sets[hash%commonSets]
	for i := range set.parts {
		if set.parts[i].hash == hash && isSame(set.parts[i].value, value) {
			part := set.parts[i]
			copy(set.parts[1:], set.parts[:i])
			set.parts[0] = part
			return part.value
		}
	}
	return nil
}

// remember takes note of a value that isn't known. The second time it comes it stands for those that follow, which it tells.
func (c *common) remember(hash uint64, value any) (stands bool) {
	set := &c.sets[hash%commonSets]
	if slices.Contains(set.seen[:], hash) {
		copy(set.parts[1:], set.parts[:commonPlaces-1])
		set.parts[0] = commonPart{hash, value}
		return true
	}
	copy(set.seen[1:], set.seen[:commonPlaces-1])
	set.seen[0] = hash
	return false
}

// isSame compares values of which those inside are shared already, if they are equal.
func isSame(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && (reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(other).UnsafePointer() || maps.EqualFunc(a, other, isSame))
	case []any:
		other, ok := b.([]any)
		return ok && len(a) == len(other) && (len(a) == 0 || &a[0] == &other[0] || slices.EqualFunc(a, other, isSame))
	case float64:
		// Two of these that print alike, such as 0 and -0, need not be the same.
		other, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(other)
	}
	return isSamePacked(a, b)
}
