package cluster

import (
	"hash/maphash"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"

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

func newCommon() *common { return &common{seed: maphash.MakeSeed()} }

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
			obj.Object[c.text(key)], _, _ = c.part(value, true)
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
		if fields, _ := entry["fieldsV1"].(map[string]any); entry["time"] != nil && (len(fields) > 1 || fields["f:metadata"] == nil) {
			entry = maps.Clone(entry)
			delete(entry, "time")
			item = c.again(entry)
		}
		entries = append(entries, item)
	}
	content, metadata := maps.Clone(obj.Object), maps.Clone(metadata)
	content["metadata"], metadata["managedFields"] = metadata, c.again(slices.Clip(entries))
	return &unstructured.Unstructured{Object: content}
}

// again returns what stands for a new value of which all that is inside is shared.
func (c *common) again(value any) any {
	shared, _, _ := c.part(value, false)
	return shared
}

// inside shares the keys and values of a map that is never equal to another one.
func (c *common) inside(content map[string]any) {
	for key, value := range content {
		shared := value
		if _, isText := value.(string); !isText || key == "namespace" {
			shared, _, _ = c.part(value, true)
		}
		content[c.text(key)] = shared
	}
}

// part returns a value equal to the given one, which others may have too, and its hash and size. What is inside is
// replaced if it is our own.
func (c *common) part(value any, own bool) (shared any, hash uint64, size int) {
	switch v := value.(type) {
	case string:
		hash = maphash.String(c.seed, v)
		if len(v) > commonText {
			return value, hash, 1
		}
		return c.once(hash, value), hash, 1
	case map[string]any:
		hash, size = uint64(len(v))+0x9e3779b97f4a7c15, 1
		for key, inner := range v {
			shared, innerHash, innerSize := c.part(inner, own)
			keyHash := maphash.String(c.seed, key)
			// The sum doesn't depend on the order.
			hash += mix(keyHash, innerHash)
			size += innerSize + 1
			if own {
				v[c.textOf(keyHash, key)] = shared
			}
		}
	case []any:
		hash, size = uint64(len(v))+0xc2b2ae3d27d4eb4f, 1
		for i, inner := range v {
			shared, innerHash, innerSize := c.part(inner, own)
			if own {
				v[i] = shared
			}
			hash = mix(hash, innerHash)
			size += innerSize
		}
	case int64:
		return value, mix(1, uint64(v)), 1
	case float64:
		return value, mix(2, math.Float64bits(v)), 1
	case bool:
		if v {
			return value, 3, 1
		}
		return value, 4, 1
	default:
		return value, 5, 1
	}
	if size > commonSize {
		return value, hash, size
	}
	return c.once(hash, value), hash, size
}

func mix(a, b uint64) uint64 {
	a = (a ^ b>>29) * 0xbf58476d1ce4e5b9
	b = (b ^ a>>31) * 0x94d049bb133111eb
	return a ^ b ^ b>>27
}

func (c *common) text(text string) string { return c.textOf(maphash.String(c.seed, text), text) }

func (c *common) textOf(hash uint64, text string) string {
	if len(text) > commonText {
		return text
	}
	set := &c.sets[hash%commonSets]
	for _, part := range set.parts {
		if shared, ok := part.value.(string); ok && part.hash == hash && shared == text {
			return shared
		}
	}
	shared, _ := c.once(hash, text).(string)
	return shared
}

// once returns the value that stands for all that are equal to the given one.
func (c *common) once(hash uint64, value any) any {
	set := &c.sets[hash%commonSets]
	for i, part := range set.parts {
		if part.hash == hash && isSame(part.value, value) {
			copy(set.parts[1:], set.parts[:i])
			set.parts[0] = part
			return part.value
		}
	}
	if slices.Contains(set.seen[:], hash) {
		copy(set.parts[1:], set.parts[:commonPlaces-1])
		set.parts[0] = commonPart{hash, value}
		return value
	}
	copy(set.seen[1:], set.seen[:commonPlaces-1])
	set.seen[0] = hash
	return value
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
	return a == b
}
