package compact

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// protobufPrefix is what each document in protobuf begins with.
var protobufPrefix = []byte("k8s\x00")

// Unmarshal decodes a document that an API server sent, in JSON or in protobuf, into the type it is of.
func Unmarshal(document []byte, into interface{ Unmarshal(message []byte) error }) error {
	content, ok := bytes.CutPrefix(document, protobufPrefix)
	if !ok {
		return json.Unmarshal(document, into)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(content); err != nil {
		return err
	}
	return into.Unmarshal(envelope.Raw)
}
