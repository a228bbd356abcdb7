package compact

import (
	"hash/maphash"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Limits of a pool. When a pool has this many parts, texts or shapes, it drops them and starts again. Objects keep the
// values that they share.
const (
	maxParts  = 1 << 12
	maxSeen   = 1 << 12
	maxTexts  = 1 << 11
	maxShapes = 1 << 10
)

// Sizes in bytes above which a value isn't shared.
const (
	maxPartSize = 1 << 15
	maxTextSize = 1 << 7
)

// Pool holds the values that objects share. It is safe for concurrent use.
type Pool struct {
	seed maphash.Seed

	mu sync.Mutex
	// seen has the hashes of parts that have occurred. Only a part that occurs again is added to parts.
	seen  map[uint64]bool
	parts map[uint64]any
	texts map[string]any
	// shapes are the shapes by the text from which each was made. text is a buffer for such texts.
	shapes map[string]*shape
	text   []byte
}

// NewPool returns an empty Pool.
func NewPool() *Pool {
	return &Pool{
		seed: maphash.MakeSeed(), seen: map[uint64]bool{}, parts: map[uint64]any{},
		texts: map[string]any{}, shapes: map[string]*shape{},
	}
}

// Encode returns obj with its maps, lists, keys and short texts replaced by equal values of other objects. It drops the
// parts of managedFields that no Manager reads, see neededFields. It takes ownership of obj: don't change obj
// afterwards.
func (p *Pool) Encode(obj *unstructured.Unstructured) *Object {
	if metadata, ok := obj.Object["metadata"].(map[string]any); ok {
		if entries, ok := metadata["managedFields"].([]any); ok {
			metadata["managedFields"] = neededFields(entries)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share(obj.Object)
	return &Object{whole: obj}
}

// neededFields drops the entries of the status subresource, except for those of applies (ApplyStatus). The status isn't
// part of an intent. It drops the times of writes, because they would make each object different. It keeps the times of
// entries that own only metadata, because a Manager reads them.
func neededFields(entries []any) []any {
	entries = slices.DeleteFunc(entries, func(item any) bool {
		entry, _ := item.(map[string]any)
		return entry["subresource"] == "status" && entry["operation"] != "Apply"
	})
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		if len(fields) > 1 || fields["f:metadata"] == nil {
			delete(entry, "time")
		}
	}
	return entries
}

// share returns the shared value that equals value, or value itself if there is none, with its hash and its size in
// bytes. It shares all values inside of value, too.
func (p *Pool) share(value any) (shared any, hash uint64, size int) {
	switch v := value.(type) {
	case map[string]any:
		return p.shareMap(v)
	case []any:
		hash, size = uint64(len(v)), 16
		for i, inner := range v {
			shared, innerHash, innerSize := p.share(inner)
			v[i] = shared
			hash = maphash.Comparable(p.seed, [2]uint64{hash, innerHash})
			size += innerSize
		}
		return p.stand(v, hash, size), hash, size
	case string:
		return v, maphash.String(p.seed, v), 16 + len(v)
	case float64: // 0 and -0 are equal, but written differently
		return v, maphash.Comparable(p.seed, math.Float64bits(v)), 8
	}
	return value, maphash.Comparable(p.seed, value), 8
}

func (p *Pool) shareMap(content map[string]any) (shared any, hash uint64, size int) {
	hash, size = uint64(len(content)), 16
	for key, inner := range content {
		value, innerHash, innerSize := p.share(inner)
		hash += maphash.Comparable(p.seed, [2]uint64{maphash.String(p.seed, key), innerHash}) // independent of the order
		size += 16 + len(key) + innerSize
		if text, ok := value.(string); ok {
			value = p.shareText(text, value)
		}
		if key, ok := p.shareText(key, nil).(string); ok {
			content[key] = value // this replaces the key, too
		}
	}
	return p.stand(content, hash, size), hash, size
}

// shareText returns the shared value of text. value is text as an interface value, nil if the caller has none.
func (p *Pool) shareText(text string, value any) any {
	if known, ok := p.texts[text]; ok {
		return known
	}
	if value == nil {
		value = text
	}
	if len(text) <= maxTextSize {
		if len(p.texts) >= maxTexts {
			clear(p.texts)
		}
		p.texts[text] = value
	}
	return value
}

// stand returns the shared map or list that equals value, or value itself if there is none. The second of several equal
// values becomes the shared one.
func (p *Pool) stand(value any, hash uint64, size int) any {
	if size > maxPartSize {
		return value
	}
	if known, ok := p.parts[hash]; ok && isSame(known, value) {
		return known
	}
	if !p.seen[hash] {
		if len(p.seen) >= maxSeen {
			clear(p.seen)
		}
		p.seen[hash] = true
		return value
	}
	if len(p.parts) >= maxParts {
		clear(p.parts)
	}
	p.parts[hash] = value
	return value
}

// isSame reports whether two values are equal. It is fast if their inner maps and lists are shared already.
func isSame(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || maps.EqualFunc(a, b, isSame))
	case []any:
		b, ok := b.([]any)
		return ok && (reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() && len(a) == len(b) || slices.EqualFunc(a, b, isSame))
	}
	return a == b
}
