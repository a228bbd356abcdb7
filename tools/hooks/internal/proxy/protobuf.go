package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// protobufPrefix begins each object in protobuf. An envelope of the type runtime.Unknown follows.
var protobufPrefix = []byte("k8s\x00")

// The numbers of fields: that of metadata in each object of the API, and that of type in a Secret.
const (
	metadataField   = 1
	secretTypeField = 3
)

// protobufObject is an object in protobuf, of a type that needn't be known.
type protobufObject struct {
	envelope runtime.Unknown
	metadata metav1.ObjectMeta
	// rest has all fields but the metadata, as they came.
	rest []byte
	// texts are the values of fields that have a length, the last one of each number.
	texts map[protowire.Number][]byte
}

func decodeProtobuf(body []byte) (*protobufObject, error) {
	content, ok := bytes.CutPrefix(body, protobufPrefix)
	if !ok {
		return nil, fmt.Errorf("it doesn't begin with %q", protobufPrefix)
	}
	o := &protobufObject{texts: map[protowire.Number][]byte{}}
	if err := o.envelope.Unmarshal(content); err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	if o.envelope.ContentEncoding != "" {
		return nil, fmt.Errorf("envelope: the encoding %q isn't supported", o.envelope.ContentEncoding)
	}
	for left := o.envelope.Raw; len(left) > 0; {
		number, kind, tag := protowire.ConsumeTag(left)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(number, kind, left[tag:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(left[tag:])
			o.texts[number] = value
		}
		switch {
		case number != metadataField:
			o.rest = append(o.rest, left[:tag+size]...)
		case kind != protowire.BytesType:
			return nil, errors.New("metadata isn't an object")
		default: // a second one adds to the first one
			if err := o.metadata.Unmarshal(value); err != nil {
				return nil, fmt.Errorf("metadata: %w", err)
			}
		}
		left = left[tag+size:]
	}
	return o, nil
}

func (o *protobufObject) name() string { return o.metadata.Name }

func (o *protobufObject) secretType() (string, error) { return string(o.texts[secretTypeField]), nil }

func (o *protobufObject) own(by owner, namespace string) error {
	if !by.refers(namespace) {
		if o.metadata.Annotations == nil {
			o.metadata.Annotations = map[string]string{}
		}
		for key, value := range by.annotations() {
			o.metadata.Annotations[key] = value
		}
		return nil
	}
	isOurs := func(r metav1.OwnerReference) bool { return r.UID == by.uid }
	if !slices.ContainsFunc(o.metadata.OwnerReferences, isOurs) {
		o.metadata.OwnerReferences = append(o.metadata.OwnerReferences, by.reference())
	}
	return nil
}

func (o *protobufObject) pin(uid types.UID) { o.metadata.UID = uid }

func (o *protobufObject) encode() ([]byte, error) {
	metadata, err := o.metadata.Marshal()
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	envelope := o.envelope
	envelope.Raw = protowire.AppendBytes(protowire.AppendTag(nil, metadataField, protowire.BytesType), metadata)
	envelope.Raw = append(envelope.Raw, o.rest...)
	content, err := envelope.Marshal()
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return slices.Concat(protobufPrefix, content), nil
}
