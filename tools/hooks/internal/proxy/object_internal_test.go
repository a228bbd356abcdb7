package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var tom = owner{kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cat"}, namespace: "a", name: "tom", uid: "uid-of-tom"}

// FuzzOwnJSON: what the API server reads of a body with an owner is what was sent, and the owner.
func FuzzOwnJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"metadata":null}`, `{"metadata":{"name":"a","ownerReferences":[{"uid":"b"}]},"spec":{"a":[1,2.50,"<\u2028>"]}}`,
		`{"metadata":{"annotations":{"a":"b"}}}`, `{"metadata":{"ownerReferences":[{"uid":"uid-of-tom"}]}}`, `{"metadata":{},"metadata":{}}`, `{"Metadata":{"name":1}}`,
	} {
		f.Add([]byte(seed), "a")
		f.Add([]byte(seed), "b")
	}
	f.Fuzz(func(t *testing.T, body []byte, namespace string) {
		o, refused := decodeObject(body, typeJSON)
		if refused != nil {
			return
		}
		if o.own(tom, namespace) != nil {
			return
		}
		owned, err := o.encode()
		require.NoError(t, err)
		var before, after map[string]any
		if decoder := json.NewDecoder(bytes.NewReader(body)); true {
			decoder.UseNumber()
			require.NoError(t, decoder.Decode(&before))
		}
		decoder := json.NewDecoder(bytes.NewReader(owned))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&after))
		metadata, ok := after["metadata"].(map[string]any)
		require.True(t, ok)
		old, _ := before["metadata"].(map[string]any)
		if old == nil {
			old = map[string]any{}
		}
		field := "annotations"
		if tom.refers(namespace) {
			field = "ownerReferences"
			references, _ := metadata[field].([]any)
			assert.True(t, slices.ContainsFunc(references, func(r any) bool { return r.(map[string]any)["uid"] == "uid-of-tom" }))
		} else {
			assert.Equal(t, "a/tom", metadata[field].(map[string]any)[OwnerName])
		}
		for _, fields := range []map[string]any{metadata, old} {
			delete(fields, field)
		}
		after["metadata"], before["metadata"] = metadata, old
		assert.Equal(t, before, after)
	})
}

// FuzzOwnProtobuf: the same for protobuf.
func FuzzOwnProtobuf(f *testing.F) {
	metadata, err := (&metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"b": "c"}, OwnerReferences: []metav1.OwnerReference{{UID: "other"}}}).Marshal()
	require.NoError(f, err)
	field := append([]byte{1<<3 | 2, byte(len(metadata))}, metadata...)
	for _, raw := range [][]byte{nil, field, append(field, field...), {0xf8, 0x06, 0x07}, {1 << 3, 1}, {0xff}} {
		content, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Raw: raw}).Marshal()
		require.NoError(f, err)
		f.Add(append([]byte("k8s\x00"), content...), "a")
		f.Add(append([]byte("k8s\x00"), content...), "b")
	}
	f.Fuzz(func(t *testing.T, body []byte, namespace string) {
		o, err := decodeProtobuf(body)
		if err != nil {
			return
		}
		require.NoError(t, o.own(tom, namespace))
		owned, err := o.encode()
		require.NoError(t, err)
		again, err := decodeProtobuf(owned)
		require.NoError(t, err)
		assert.Equal(t, o.name(), again.name())
		assert.True(t, tom.owns(&metav1.PartialObjectMetadata{ObjectMeta: again.metadata}))
		assert.True(t, bytes.Equal(o.rest, again.rest), "other fields stay")
		assert.Equal(t, o.envelope.TypeMeta, again.envelope.TypeMeta)
		before, _ := o.secretType()
		after, _ := again.secretType()
		assert.Equal(t, before, after)
	})
}
