package cluster

import (
	"bytes"
	"hash/maphash"
	"maps"
	"reflect"
	"strings"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// fieldSet is what an entry of managedFields says: the text, and what that decodes to, which nobody may change. A template gives all
// objects the same ones, but for the uid of the owner, and each is longer than most of what differs.
type fieldSet struct {
	text    string
	content map[string]any
}

// decodeFields decodes what an entry of managedFields says.
func decodeFields(text []byte) (fields map[string]any, err error) {
	err = json.Unmarshal(text, &fields)
	return fields, err
}

// fields is decodeFields for the entries of an object with owners. What it returns is shared.
func (c *common) fields(text []byte, owners []metav1.OwnerReference) (map[string]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(owners) == 1 {
		if content, ok := c.fieldsOfOwned(text, string(owners[0].UID)); ok {
			return content, nil
		}
	}
	return c.fieldsOf(text)
}

// fieldsOf returns what stands for the text.
func (c *common) fieldsOf(text []byte) (map[string]any, error) {
	hash := mix(maphash.Bytes(c.seed, text), 6) // not that of a value
	set := &c.sets[hash%commonSets]
	for i := range set.parts {
		if known, ok := set.parts[i].value.(*fieldSet); ok && set.parts[i].hash == hash && known.text == string(text) {
			return known.content, nil
		}
	}
	content, err := decodeFields(text)
	if err != nil {
		return nil, err
	}
	shared, _, _ := c.object(content)
	content, _ = shared.(map[string]any)
	if c.remember(hash, &fieldSet{string(text), content}) {
		c.stand(content)
	}
	return content, nil
}

// How the owner of an object stands in the text of a field set and in what that decodes to, without its uid.
const (
	ownerKeyText, ownerKeyTextEnd = `"k:{\"uid\":\"`, `\"}":`
	ownerKey, ownerKeyEnd         = `k:{"uid":"`, `"}`
)

// fieldsOfOwned is fieldsOf for a text in which the owner's uid stands once, as that of the owner.
func (c *common) fieldsOfOwned(text []byte, uid string) (map[string]any, bool) {
	at := bytes.Index(text, []byte(ownerKeyText))
	if at < 0 || uid == "" {
		return nil, false
	}
	start := at + len(ownerKeyText)
	end := start + len(uid)
	if !bytes.HasPrefix(text[start:], []byte(uid)) || !bytes.HasPrefix(text[end:], []byte(ownerKeyTextEnd)) || bytes.Contains(text[end:], []byte(uid)) {
		return nil, false
	}
	nobody := strings.Repeat("0", len(uid))
	c.template = append(c.template[:0], text...)
	copy(c.template[start:], nobody)
	content, err := c.fieldsOf(c.template)
	if err != nil {
		return nil, false
	}
	metadata, _ := content["f:metadata"].(map[string]any)
	references, _ := metadata["f:ownerReferences"].(map[string]any)
	held, there := references[ownerKey+nobody+ownerKeyEnd]
	if !there {
		return nil, false
	}
	content, metadata, references = maps.Clone(content), maps.Clone(metadata), maps.Clone(references)
	delete(references, ownerKey+nobody+ownerKeyEnd)
	references[ownerKey+uid+ownerKeyEnd] = held
	content["f:metadata"], metadata["f:ownerReferences"] = metadata, references
	return content, true
}

// standing is a map that stands for all that are equal to it, and is packed as what it is.
type standing struct {
	content map[string]any
	hash    uint64
	size    int
}

// mostStanding bounds the maps of which it is known that they stand for others.
const mostStanding = 1 << 12

// stand takes note of the maps of a field set that comes again and again, so that they needn't be looked at to be packed: of each but
// the one that names the owner.
func (c *common) stand(content map[string]any) {
	if len(c.standing) > mostStanding {
		clear(c.standing)
	}
	for key, value := range content {
		inner, ok := value.(map[string]any)
		if !ok {
			continue
		}
		_, hash, size := c.packed(inner)
		c.standing[pointerTo(inner)] = &standing{inner, hash, size}
		if key == "f:metadata" {
			c.stand(inner)
		}
	}
}

func pointerTo(content map[string]any) unsafe.Pointer {
	return reflect.ValueOf(content).UnsafePointer()
}
