package compact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// shape is metadata without the texts that belong to a single object, see eachText. Objects of one template share a
// shape.
type shape struct {
	kind schema.GroupVersionKind
	// metadata has empty strings in place of these texts.
	metadata metav1.ObjectMeta
	// fields are the field sets in metadata.managedFields, as maps that all objects of the shape share. uids locates
	// the uids of owners in these maps, which differ from object to object.
	fields []map[string]any
	uids   []ownerUID
}

// ownerUID locates a key that contains the uid of an owner. The key is in the map at path of the field set of an entry.
type ownerUID struct {
	entry, owner int
	path         []string
}

// EncodeMetadata returns an object of kind with only its metadata. It drops the entries of the status subresource from
// managedFields. It takes ownership of metadata. It returns an error if the field set of a manager isn't JSON.
func (p *Pool) EncodeMetadata(kind schema.GroupVersionKind, metadata *metav1.ObjectMeta) (*Object, error) {
	metadata.ManagedFields = slices.DeleteFunc(metadata.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "status"
	})
	hideOwners(metadata)
	p.mu.Lock()
	defer p.mu.Unlock()
	texts := p.text[:0]
	eachText(metadata, func(text string) string {
		texts = append(binary.AppendUvarint(texts, uint64(len(text))), text...)
		return ""
	})
	own := string(texts)
	size := metadata.Size()
	text := append(slices.Grow(texts[:0], size), make([]byte, size)...)
	p.text = text
	if _, err := metadata.MarshalToSizedBuffer(text); err != nil {
		return nil, err
	}
	text = append(append(text, 0), kind.String()...)
	known, ok := p.shapes[string(text)]
	if !ok {
		made, err := p.newShape(kind, metadata)
		if err != nil {
			return nil, err
		}
		if len(p.shapes) >= maxShapes {
			clear(p.shapes)
		}
		known, p.shapes[string(text)] = made, made
	}
	return &Object{shape: known, texts: own}, nil
}

// hiddenUID returns the key that replaces the key of the i-th owner in field sets. It isn't valid JSON, so no API
// server writes such a key.
func hiddenUID(i int) string { return `k:{"uid":""` + strconv.Itoa(i) + `"}` }

// hideOwners replaces the keys with uids of owners by hiddenUID. It skips field sets that contain lists, because an
// ownerUID can't have a path through a list.
func hideOwners(m *metav1.ObjectMeta) {
	for i := range m.ManagedFields {
		fields := m.ManagedFields[i].FieldsV1
		if fields == nil || bytes.IndexByte(fields.GetRawBytes(), '[') >= 0 {
			continue
		}
		for n, owner := range m.OwnerReferences {
			key, hidden := []byte(strconv.Quote(uidKey(string(owner.UID)))+":"), []byte(strconv.Quote(hiddenUID(n))+":")
			if text := fields.GetRawBytes(); bytes.Count(text, key) == 1 {
				fields = &metav1.FieldsV1{}
				fields.SetRawBytes(bytes.Replace(text, key, hidden, 1))
			}
		}
		m.ManagedFields[i].FieldsV1 = fields
	}
}

// uidKey returns the key of an owner in a field set.
func uidKey(uid string) string { return `k:{"uid":"` + uid + `"}` }

// newShape returns the shape of metadata and takes ownership of it. p.mu is held.
func (p *Pool) newShape(kind schema.GroupVersionKind, metadata *metav1.ObjectMeta) (*shape, error) {
	s := &shape{kind: kind, metadata: *metadata}
	for i := range metadata.ManagedFields {
		entry := &metadata.ManagedFields[i]
		var fields map[string]any
		if entry.FieldsV1 != nil {
			if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
				return nil, fmt.Errorf("metadata.managedFields[%d].fieldsV1: %w", i, err)
			}
			entry.FieldsV1 = nil
		}
		for n := range metadata.OwnerReferences {
			if path, ok := pathOf(fields, hiddenUID(n)); ok {
				s.uids = append(s.uids, ownerUID{entry: i, owner: n, path: path})
			}
		}
		if fields != nil {
			shared, _, _ := p.share(fields)
			fields, _ = shared.(map[string]any)
		}
		s.fields = append(s.fields, fields)
	}
	return s, nil
}

// pathOf returns the path of the map that has key.
func pathOf(content map[string]any, key string) (path []string, ok bool) {
	if _, ok := content[key]; ok {
		return nil, true
	}
	for name, inner := range content {
		if inner, isMap := inner.(map[string]any); isMap {
			if path, ok := pathOf(inner, key); ok {
				return append([]string{name}, path...), true
			}
		}
	}
	return nil, false
}

// eachText replaces each text that belongs to a single object by the result of visit, always in the same order.
func eachText(m *metav1.ObjectMeta, visit func(text string) string) {
	eachName(m, visit)
	m.GenerateName = visit(m.GenerateName)
	m.Generation, _ = strconv.ParseInt(visit(strconv.FormatInt(m.Generation, 10)), 10, 64)
	m.CreationTimestamp = visitTime(m.CreationTimestamp, visit)
	if m.DeletionTimestamp != nil {
		at := visitTime(*m.DeletionTimestamp, visit)
		m.DeletionTimestamp = &at
	}
	for i := range m.OwnerReferences {
		owner := &m.OwnerReferences[i]
		owner.Name, owner.UID = visit(owner.Name), types.UID(visit(string(owner.UID)))
	}
	for _, values := range []map[string]string{m.Labels, m.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			values[key] = visit(values[key])
		}
	}
	for i := range m.ManagedFields {
		if entry := &m.ManagedFields[i]; entry.Time != nil {
			at := visitTime(*entry.Time, visit)
			entry.Time = &at
		}
	}
}

// eachName is eachText for the texts that identify a state of an object: name, uid and resourceVersion. They come
// first.
func eachName(m *metav1.ObjectMeta, visit func(text string) string) {
	m.Name, m.UID, m.ResourceVersion = visit(m.Name), types.UID(visit(string(m.UID))), visit(m.ResourceVersion)
}

func visitTime(at metav1.Time, visit func(string) string) metav1.Time {
	text := ""
	if !at.IsZero() {
		text = strconv.FormatInt(at.Unix(), 10)
	}
	seconds, err := strconv.ParseInt(visit(text), 10, 64)
	if err != nil {
		return metav1.Time{}
	}
	return metav1.Time{Time: time.Unix(seconds, 0).UTC()}
}

// metadata returns the object's metadata, without the field sets of its managers.
func (o *Object) metadata() *metav1.ObjectMeta {
	m := o.shape.metadata
	m.Labels, m.Annotations = maps.Clone(m.Labels), maps.Clone(m.Annotations)
	m.OwnerReferences, m.ManagedFields = slices.Clone(m.OwnerReferences), slices.Clone(m.ManagedFields)
	texts := o.texts
	eachText(&m, func(string) string { return next(&texts) })
	return &m
}

// next removes the first text from texts and returns it. A text is preceded by its length, as binary.AppendUvarint
// encodes it.
func next(texts *string) string {
	length, size := 0, 0
	for shift := 0; ; shift += 7 {
		digit := (*texts)[size]
		size++
		length |= int(digit&0x7f) << shift
		if digit < 0x80 {
			break
		}
	}
	text := (*texts)[size : size+length]
	*texts = (*texts)[size+length:]
	return text
}

// decode returns the object that has metadata m.
func (s *shape) decode(m *metav1.ObjectMeta) *unstructured.Unstructured {
	content := contentOf(m)
	if len(m.ManagedFields) > 0 {
		fields := s.fieldsOf(m)
		entries := make([]any, len(m.ManagedFields))
		for i := range m.ManagedFields {
			entries[i] = entryContent(&m.ManagedFields[i], fields[i])
		}
		content["managedFields"] = entries
	}
	version, kind := s.kind.ToAPIVersionAndKind()
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": content}}
}

// fieldsOf returns the field set of each manager, with the uids of m's owners. It copies only the maps on the path to
// these uids.
func (s *shape) fieldsOf(m *metav1.ObjectMeta) []map[string]any {
	if len(s.uids) == 0 {
		return s.fields
	}
	fields := slices.Clone(s.fields)
	for _, place := range s.uids {
		content := maps.Clone(fields[place.entry])
		fields[place.entry] = content
		for _, name := range place.path {
			inner, _ := content[name].(map[string]any)
			inner = maps.Clone(inner)
			content[name], content = inner, inner
		}
		hidden := hiddenUID(place.owner)
		content[uidKey(string(m.OwnerReferences[place.owner].UID))] = content[hidden]
		delete(content, hidden)
	}
	return fields
}
