package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The numbers of the fields that are read without decoding the message that they are in.
const (
	envelopeRaw        = 2 // of runtime.Unknown
	eventType          = 1 // of metav1.WatchEvent
	eventObject        = 2
	objectRaw          = 1 // of runtime.RawExtension
	partialMetadata    = 1 // of metav1.PartialObjectMetadata
	metadataName       = 1 // of metav1.ObjectMeta
	metadataNamespace  = 3
	metadataUID        = 5
	metadataVersion    = 6
	metadataDeletionAt = 9
)

// eachField calls each with those fields of a protobuf message that are texts, bytes or messages, in their order. What it
// gives is a part of the message.
func eachField(message []byte, each func(number uint64, content []byte)) error {
	for len(message) > 0 {
		tag, size := binary.Uvarint(message)
		if size <= 0 {
			return io.ErrUnexpectedEOF
		}
		message = message[size:]
		var length uint64
		switch kind := tag & 7; kind {
		case 0: // a number
			if _, size = binary.Uvarint(message); size <= 0 {
				return io.ErrUnexpectedEOF
			}
			length = uint64(size)
		case 1: // eight bytes
			length = 8
		case 2:
			if length, size = binary.Uvarint(message); size <= 0 || length > uint64(len(message)-size) {
				return io.ErrUnexpectedEOF
			}
			message = message[size:]
			each(tag>>3, message[:length])
		case 5: // four bytes
			length = 4
		default:
			return fmt.Errorf("a field of the wire type %d", kind)
		}
		if length > uint64(len(message)) {
			return io.ErrUnexpectedEOF
		}
		message = message[length:]
	}
	return nil
}

// fieldOf returns one such field of a message, nil if it isn't there.
func fieldOf(message []byte, number uint64) (content []byte, err error) {
	err = eachField(message, func(found uint64, value []byte) {
		if found == number {
			content = value
		}
	})
	return content, err
}

// unwrapped is what the envelope of a document has in it.
func unwrapped(document []byte) ([]byte, error) {
	return fieldOf(document[len(envelope):], envelopeRaw)
}

// eventIn takes an event of a watch apart.
func eventIn(message []byte) (kind string, document []byte, err error) {
	var extension []byte
	err = eachField(message, func(number uint64, content []byte) {
		switch number {
		case eventType:
			kind = string(content)
		case eventObject:
			extension = content
		}
	})
	if err == nil {
		document, err = fieldOf(extension, objectRaw)
	}
	if err == nil && !isProtobuf(document) {
		err = errors.New("its object isn't protobuf")
	}
	return kind, document, err
}

// peekMetadata is peek for metadata as protobuf, which doesn't say of which kind it is.
func peekMetadata(metadata []byte) (h header, ok bool) {
	deleting := false
	err := eachField(metadata, func(number uint64, content []byte) {
		switch number {
		case metadataName:
			h.name = content
		case metadataNamespace:
			h.namespace = content
		case metadataUID:
			h.uid = content
		case metadataVersion:
			h.version = content
		case metadataDeletionAt:
			deleting = true
		}
	})
	return h, err == nil && !deleting && len(h.uid) > 0 && len(h.version) > 0
}
