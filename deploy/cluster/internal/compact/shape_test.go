package compact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var deploymentKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// anyMetadata is metadata in which anything may be there or missing.
func anyMetadata(r *rand.Rand) metav1.ObjectMeta {
	text := func() string { return fmt.Sprintf("t%d \"ä\"", r.IntN(1000)) }
	some := func() bool { return r.IntN(2) == 0 }
	at := func() metav1.Time { return metav1.NewTime(time.Unix(r.Int64N(4e9), 0)) }
	m := metav1.ObjectMeta{Name: "n"}
	if some() {
		m.GenerateName, m.Namespace, m.SelfLink, m.Generation = text(), text(), text(), r.Int64() //nolint:staticcheck // it has to come through
	}
	if some() {
		m.UID, m.ResourceVersion, m.CreationTimestamp = types.UID(text()), text(), at()
	}
	if some() {
		grace, deleted := r.Int64N(2), at()
		m.DeletionGracePeriodSeconds, m.DeletionTimestamp = &grace, &deleted
	}
	if some() {
		m.Labels, m.Annotations, m.Finalizers = map[string]string{text(): text()}, map[string]string{"a": "", text(): text()}, []string{text(), ""}
	}
	for range r.IntN(3) {
		owner := metav1.OwnerReference{APIVersion: text(), Kind: text(), Name: text(), UID: types.UID(fmt.Sprint("owner-", r.IntN(3)))}
		if some() {
			yes, no := true, false
			owner.Controller, owner.BlockOwnerDeletion = &yes, &no
		}
		m.OwnerReferences = append(m.OwnerReferences, owner)
	}
	for range r.IntN(4) {
		entry := metav1.ManagedFieldsEntry{Manager: text(), Operation: "Apply", APIVersion: "v1", FieldsType: "FieldsV1"}
		if some() {
			when := at()
			entry.Time, entry.Subresource = &when, "scale"
		}
		if some() {
			entry.FieldsV1 = metav1.NewFieldsV1(fieldsText(fmt.Sprint("owner-", r.IntN(3)), r.IntN(3)))
		}
		m.ManagedFields = append(m.ManagedFields, entry)
	}
	return m
}

func fieldsText(owner string, fields int) string {
	return fmt.Sprintf(`{"f:data":{"f:a":{},"f:n%d":{}},"f:metadata":{"f:labels":{"f:x":{}},"f:ownerReferences":{"k:{\"uid\":\"%s\"}":{".":{},"f:uid":{}}}}}`, fields, owner)
}

// plain is metadata as JSON decodes it.
func plain(t testing.TB, m metav1.ObjectMeta) map[string]any {
	t.Helper()
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return decoded(t, string(text)).Object
}

func encoded(t testing.TB, pool *compact.Pool, m metav1.ObjectMeta) *unstructured.Unstructured {
	t.Helper()
	obj, err := pool.EncodeMetadata(deploymentKind, m.DeepCopy())
	require.NoError(t, err)
	assert.Equal(t, m.Name, obj.GetObjectMeta().GetName())
	assert.Equal(t, m.ResourceVersion, obj.GetObjectMeta().GetResourceVersion())
	return obj.Decode()
}

// Metadata is what JSON decodes it to, with whatever other metadata it shares a pool.
func TestEncodeMetadata(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pool := compact.NewPool()
	for range 5000 {
		m := anyMetadata(r)
		got := encoded(t, pool, m)
		require.Equal(t, deploymentKind, got.GroupVersionKind())
		require.Equal(t, plain(t, m), got.Object["metadata"])
	}
}

func TestEncodeMetadataLeavesStatusOut(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Unix(1_700_000_000, 0))
	m := metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "kubelet", Subresource: "status", Time: &now, FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
		{Manager: "operkit", Time: &now, FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)},
	}}
	got := encoded(t, compact.NewPool(), m)
	m.ManagedFields = m.ManagedFields[1:]
	assert.Equal(t, plain(t, m), got.Object["metadata"])
}

// What a template gives objects is there once for all of them, whoever owns them.
func TestEncodeMetadataSharesFields(t *testing.T) {
	t.Parallel()
	pool := compact.NewPool()
	fieldsOf := func(name string, owners ...string) map[string]any {
		m := metav1.ObjectMeta{Name: name}
		for _, owner := range owners {
			m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{UID: types.UID(owner)})
		}
		m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(fieldsText("b", 0))}}
		obj := encoded(t, pool, m)
		return obj.Object["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"].(map[string]any)
	}
	same := func(x, y map[string]any, path ...string) bool {
		return reflect.ValueOf(at(&unstructured.Unstructured{Object: x}, path...)).Pointer() == reflect.ValueOf(at(&unstructured.Unstructured{Object: y}, path...)).Pointer()
	}
	one, other := fieldsOf("x", "b"), fieldsOf("y", "b")
	assert.True(t, same(one, other, "f:data"))
	assert.True(t, same(one, other, "f:metadata", "f:labels"))
	assert.False(t, same(one, other, "f:metadata"), "it names the owner")
	assert.True(t, same(fieldsOf("x", "other"), fieldsOf("y", "other")), "it names no owner of the object")
	assert.Equal(t, fieldsOf("x", "a"), fieldsOf("x", "a", "b"))
}

// Keys that look like those of owners where there are none.
func TestEncodeMetadataOwnerKeys(t *testing.T) {
	t.Parallel()
	for reason, fields := range map[string]string{
		"two owners":          `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"a\"}":{},"k:{\"uid\":\"b\"}":{"f:x":{}}}}}`,
		"no uid":              `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"\"}":{}}}}`,
		"another key":         `{"f:metadata":{"f:ownerReferences":{"k:{\"name\":\"a\"}":{}, "k:{\"uid\":\"a\",\"x\":1}":{}, "k:{\"uid\":\"":{}}}}`,
		"not of the metadata": `{"f:spec":{"f:ownerReferences":{"k:{\"uid\":\"\"}":{},"k:{\"uid\":\"a\"}":{}}}}`,
		"twice":               `{"f:spec":{"k:{\"uid\":\"a\"}":{}},"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":{}}}}`,
		"a text where one is": `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":"x"}}}`,
		"a list on the way":   `{"f:metadata":{"f:ownerReferences":[{"k:{\"uid\":\"a\"}":{}}]}}`,
		"a text like a key":   `{"f:metadata":{"x":"k:{\"uid\":\"a\"}"}}`,
		"no fields":           `null`,
		"an empty map":        `{}`,
	} {
		pool := compact.NewPool()
		for _, owners := range [][]string{{"a"}, {"a", "b"}, {"b", "a"}, {""}, {"a", "a"}, nil} {
			m := metav1.ObjectMeta{Name: "n", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(fields)}}}
			for _, owner := range owners {
				m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{UID: types.UID(owner)})
			}
			want := decoded(t, `{"of":`+fields+`}`).Object["of"]
			got := encoded(t, pool, m).Object["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"]
			if want == nil {
				assert.Nil(t, got, reason)
			} else {
				assert.Equal(t, want, got, "%s, owners %q", reason, owners)
			}
		}
	}
}

func TestEncodeMetadataBadFields(t *testing.T) {
	t.Parallel()
	for reason, text := range map[string]string{
		"nothing": ``, "no map": `[]`, "cut off": `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":`, "text": `"x"`,
	} {
		m := &metav1.ObjectMeta{Name: "n", ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(text)}}, OwnerReferences: []metav1.OwnerReference{{UID: "a"}}}
		_, err := compact.NewPool().EncodeMetadata(deploymentKind, m)
		assert.ErrorContains(t, err, "metadata.managedFields[0].fieldsV1: ", reason)
	}
}

func TestEncodeMetadataOfManyShapes(t *testing.T) {
	t.Parallel()
	pool := compact.NewPool()
	var want []map[string]any
	var got []*unstructured.Unstructured
	for i := range 5000 {
		m := metav1.ObjectMeta{Name: "n", Labels: map[string]string{fmt.Sprint("label-", i): "x"}}
		want, got = append(want, plain(t, m)), append(got, encoded(t, pool, m))
	}
	for i := range want {
		require.Equal(t, want[i], got[i].Object["metadata"])
	}
}

// inProtobuf is a message as an API server sends it.
func inProtobuf(t testing.TB, m interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := m.Marshal()
	require.NoError(t, err)
	content, err := (&runtime.Unknown{Raw: raw}).Marshal()
	require.NoError(t, err)
	return append([]byte("k8s\x00"), content...)
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	want := metav1.PartialObjectMetadata{ObjectMeta: anyMetadata(rand.New(rand.NewPCG(5, 6)))}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	for reason, document := range map[string][]byte{"JSON": text, "protobuf": inProtobuf(t, &want)} {
		var got metav1.PartialObjectMetadata
		require.NoError(t, compact.Unmarshal(document, &got), reason)
		assert.Equal(t, plain(t, want.ObjectMeta), plain(t, got.ObjectMeta), reason)
		assert.Error(t, compact.Unmarshal(document[:len(document)-1], &got), "%s, cut off", reason)
	}
	for _, bad := range [][]byte{nil, []byte(`[]`), []byte("k8s\x00\xff"), bytes.Clone([]byte("k8s"))} {
		assert.Error(t, compact.Unmarshal(bad, &metav1.PartialObjectMetadata{}), bad)
	}
}

func FuzzEncodeMetadata(f *testing.F) {
	for seed := range uint64(20) {
		m := anyMetadata(rand.New(rand.NewPCG(seed, 1)))
		text, err := m.Marshal()
		require.NoError(f, err)
		f.Add(text, "a")
	}
	f.Fuzz(func(t *testing.T, message []byte, fields string) {
		var m metav1.ObjectMeta
		if m.Unmarshal(message) != nil {
			return
		}
		m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{Manager: "m", FieldsV1: metav1.NewFieldsV1(fields)})
		m.ManagedFields = slices.DeleteFunc(m.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
		text, err := json.Marshal(m)
		if err != nil {
			return
		}
		pool := compact.NewPool()
		for range 2 {
			obj, err := pool.EncodeMetadata(deploymentKind, m.DeepCopy())
			if err != nil {
				return
			}
			got, err := json.Marshal(obj.Decode().Object["metadata"])
			require.NoError(t, err)
			require.JSONEq(t, string(text), string(got))
		}
	})
}
