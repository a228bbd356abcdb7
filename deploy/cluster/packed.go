package cluster

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
)

// hole is where a pattern has a text that is each object's own.
type hole struct{}

const holeHash = 0x94d049bb133111eb

// owned is a value whose key names an owner by a uid, which is each object's own too.
type owned struct{ value any }

// anOwner is the key of all of those.
const anOwner = ownerKey + ownerKeyEnd

// shape are the keys of maps, ascending.
type shape struct{ keys []string }

type packedMap struct {
	shape  *shape
	values []any
}

type packedList struct{ items []any }

// packing is one object that is being packed.
type packing struct {
	*common
	// texts are those of the holes so far.
	texts []byte
	// keys are room for those of the maps that are being packed.
	keys []string
}

// pack returns the pattern and the texts of an object's metadata, with everything in it that isn't needed again and again
// left out, see needed.
func (c *common) pack(metadata map[string]any) (pattern *packedMap, texts string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := packing{c, c.texts[:0], c.keys[:0]}
	packed, _, _ := p.fields(metadata, inMetadata)
	pattern, _ = packed.(*packedMap)
	c.texts, c.keys = p.texts, p.keys
	return pattern, string(p.texts)
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

// packed is part for values that are held packed, and have no holes.
func (c *common) packed(value any) (packed any, hash uint64, size int) {
	p := packing{common: c}
	return p.value(value, anywhere)
}

// value packs what is at a place.
func (p *packing) value(value any, at place) (packed any, hash uint64, size int) {
	switch v := value.(type) {
	case string:
		if at == ownText {
			p.put(v)
			return hole{}, holeHash, 1
		}
	case map[string]any:
		if s, ok := p.standing[pointerTo(v)]; ok {
			return s, s.hash, s.size
		}
		return p.fields(v, at)
	case []any:
		if at == inEntries {
			v = neededEntries(v)
		}
		return p.items(v, at)
	}
	return p.part(value)
}

func (p *packing) fields(content map[string]any, at place) (packed any, hash uint64, size int) {
	first := len(p.keys)
	for key := range content {
		p.keys = append(p.keys, key)
	}
	slices.Sort(p.keys[first:])
	node := &packedMap{values: make([]any, len(content))}
	hash, size = uint64(len(content))+0x9e3779b97f4a7c15, 1
	for i := range node.values {
		key := p.keys[first+i]
		uid, isOwner := "", false
		if at == inOwners {
			uid, isOwner = ownerIn(key)
		}
		if isOwner {
			p.keys[first+i] = anOwner
			p.put(uid)
		}
		inner, innerHash, innerSize := p.value(content[key], at.below(key))
		if inner = p.text(innerHash, inner); isOwner {
			inner = owned{inner}
		}
		node.values[i] = inner
		hash = mix(hash, mix(maphash.String(p.seed, p.keys[first+i]), innerHash))
		size += innerSize + 1
	}
	node.shape = p.shape(p.keys[first:])
	clear(p.keys[first:])
	p.keys = p.keys[:first]
	if size > commonSize {
		return node, hash, size
	}
	return p.once(hash, node), hash, size
}

func (p *packing) items(items []any, at place) (packed any, hash uint64, size int) {
	node := &packedList{items: make([]any, len(items))}
	hash, size = uint64(len(items))+0xc2b2ae3d27d4eb4f, 1
	for i, item := range items {
		inner, innerHash, innerSize := p.value(item, at.below(""))
		node.items[i] = p.text(innerHash, inner)
		hash = mix(hash, innerHash)
		size += innerSize
	}
	if size > commonSize {
		return node, hash, size
	}
	return p.once(hash, node), hash, size
}

func (p *packing) put(text string) {
	p.texts = append(binary.AppendUvarint(p.texts, uint64(len(text))), text...)
}

// ownerIn returns the uid in a key that names an owner.
func ownerIn(key string) (uid string, ok bool) {
	if uid, ok = strings.CutPrefix(key, ownerKey); ok {
		uid, ok = strings.CutSuffix(uid, ownerKeyEnd)
	}
	return uid, ok
}

// shape returns the one of maps with these keys.
func (c *common) shape(keys []string) *shape {
	hash := uint64(0x27d4eb2f165667c5)
	for _, key := range keys {
		hash = mix(hash, maphash.String(c.seed, key))
	}
	set := &c.sets[hash%commonSets]
	for i := range set.parts {
		if known, ok := set.parts[i].value.(*shape); ok && set.parts[i].hash == hash && slices.Equal(known.keys, keys) {
			return known
		}
	}
	keys = slices.Clone(keys)
	for i, key := range keys {
		keys[i] = c.key(maphash.String(c.seed, key), key)
	}
	fresh := &shape{keys}
	c.remember(hash, fresh)
	return fresh
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
