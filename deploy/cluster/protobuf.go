package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// What is held as metadata is asked for as protobuf, which costs both sides a part of what JSON does. The garbage collector of
// a control plane asks for the same in the same words, so that an API server encodes an event once for it and for us. A server
// that doesn't speak protobuf answers with JSON.
const (
	onlyMetadata     = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	onlyMetadataList = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// envelope is what each object begins with that comes as protobuf.
var envelope = []byte("k8s\x00")

func isProtobuf(document []byte) bool { return bytes.HasPrefix(document, envelope) }

// decodeMetadata is decode for protobuf, in which only metadata comes.
func (d decoder) decodeMetadata(document []byte, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	partial, err := unwrapped(document)
	if err != nil {
		return nil, err
	}
	text, err := fieldOf(partial, partialMetadata)
	if err != nil {
		return nil, err
	}
	if d.known != nil {
		if h, ok := peekMetadata(text); ok {
			if obj := d.known(h.ref(kind), types.UID(h.uid), string(h.version), false); obj != nil {
				return obj, nil
			}
		}
	}
	var metadata metav1.ObjectMeta
	if err := metadata.Unmarshal(text); err != nil {
		return nil, err
	}
	return d.object(&metadata, kind)
}

// object returns the object of kind whose metadata is given, with nothing else in it.
func (d decoder) object(metadata *metav1.ObjectMeta, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	if metadata.Name == "" && !kind.Empty() {
		return nil, errors.New("it has no name")
	}
	fields := decodeFields
	if d.common != nil {
		fields = func(text []byte) (map[string]any, error) { return d.common.fields(text, metadata.OwnerReferences) }
	}
	content, err := contentOf(metadata, fields)
	if err != nil {
		return nil, err
	}
	version, name := kind.ToAPIVersionAndKind()
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": name, "metadata": content}}, nil
}

// metadataList decodes a list of metadata, each item by read, which leaves out those for which it has none.
func metadataList(document []byte, read func(*metav1.ObjectMeta) *unstructured.Unstructured) (*metainternal.List, error) {
	content, err := unwrapped(document)
	if err != nil {
		return nil, err
	}
	var answer metav1.PartialObjectMetadataList
	if err := answer.Unmarshal(content); err != nil {
		return nil, err
	}
	list := &metainternal.List{ListMeta: answer.ListMeta, Items: make([]runtime.Object, 0, len(answer.Items))}
	for i := range answer.Items {
		if obj := read(&answer.Items[i].ObjectMeta); obj != nil {
			list.Items = append(list.Items, obj)
		}
	}
	return list, nil
}

// largestFrame is more than the largest object that a cluster can store takes.
const largestFrame = 1 << 26

// keptFrame is the largest for which room is kept.
const keptFrame = 1 << 16

// nextFrame is next for protobuf: each event comes after its size.
func (e *events) nextFrame() (kind watch.EventType, document []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(e.input, size[:]); err != nil {
		return "", nil, err
	}
	length := binary.BigEndian.Uint32(size[:])
	if length > largestFrame {
		return "", nil, fmt.Errorf("an event of %d bytes", length)
	}
	frame := slices.Grow(e.frame[:0], int(length))[:length]
	if length <= keptFrame {
		e.frame = frame
	}
	if _, err := io.ReadFull(e.input, frame); err != nil {
		return "", nil, noEOF(err)
	}
	name, document, err := eventIn(frame)
	if err != nil {
		return "", nil, fmt.Errorf("an event: %w", err)
	}
	return watch.EventType(name), document, nil
}

// noEOF is err, as what it is at a place where there should have been more.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
