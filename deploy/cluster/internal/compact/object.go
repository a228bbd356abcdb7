package compact

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// Object is an encoded object. It never changes.
type Object struct {
	// whole is the object itself, unless only metadata is held.
	whole *unstructured.Unstructured
	// shape is the part of the metadata that is shared with other objects. texts are the object's own strings, each
	// preceded by its length.
	shape *shape
	texts string
}

var (
	_ runtime.Object            = (*Object)(nil)
	_ metav1.ObjectMetaAccessor = (*Object)(nil)
)

// Decode returns the object. It returns nil for nil. Don't change the result.
func (o *Object) Decode() *unstructured.Unstructured {
	if o == nil {
		return nil
	}
	if o.whole != nil {
		return o.whole
	}
	return o.shape.decode(o.metadata())
}

// GetObjectMeta implements metav1.ObjectMetaAccessor. If only metadata is held, the result has only namespace, name,
// uid and resource version.
func (o *Object) GetObjectMeta() metav1.Object {
	if o.whole != nil {
		return o.whole
	}
	texts := o.texts
	m := &metav1.ObjectMeta{Namespace: o.shape.metadata.Namespace}
	eachName(m, func(string) string { return next(&texts) })
	return m
}

// Owners returns the uids of the object's owners, each once.
func (o *Object) Owners() (uids []string) {
	var owners []metav1.OwnerReference
	if o.whole != nil {
		owners = o.whole.GetOwnerReferences()
	} else {
		owners = o.metadata().OwnerReferences
	}
	for i := range owners {
		if uid := string(owners[i].UID); uid != "" && !slices.Contains(uids, uid) {
			uids = append(uids, uid)
		}
	}
	return uids
}

// GetObjectKind implements runtime.Object.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// protobufPrefix is the beginning of each document in protobuf.
var protobufPrefix = []byte("k8s\x00")

// Unmarshal decodes a document of an API server, in JSON or protobuf, into its type.
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
