package cluster

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

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
			entry.Time, entry.Subresource = &when, "status"
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

// protobufOf is metadata as it comes as protobuf.
func protobufOf(t testing.TB, m metav1.ObjectMeta) []byte {
	t.Helper()
	partial := metav1.PartialObjectMetadata{ObjectMeta: m}
	return wrapped(t, &partial)
}

// As protobuf or as JSON, metadata is the same.
func TestMetadataIsThatOfJSON(t *testing.T) {
	t.Parallel()
	kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	r := rand.New(rand.NewPCG(1, 2))
	c := newCommon()
	for range 2000 {
		m := anyMetadata(r)
		text, err := json.Marshal(metav1.PartialObjectMetadata{ObjectMeta: m})
		require.NoError(t, err)
		want, err := decoder{}.decode(text, kind)
		require.NoError(t, err)
		for _, reader := range []decoder{{}, {common: c, partial: true}} {
			got, err := reader.decode(protobufOf(t, m), kind)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		record := c.newRecord(want)
		want.Object["metadata"] = record.metadata()
		got, err := decoder{common: c, partial: true}.decode(protobufOf(t, m), kind)
		require.NoError(t, err)
		require.Equal(t, want.Object["metadata"], c.newRecord(got).metadata(), "also when it has been packed")
	}
}

func TestFieldSets(t *testing.T) {
	t.Parallel()
	c := newCommon()
	read := func(owner string, owners ...string) map[string]any {
		var references []metav1.OwnerReference
		for _, uid := range owners {
			references = append(references, metav1.OwnerReference{UID: types.UID(uid)})
		}
		text := fieldsText(owner, 0)
		got, err := c.fields([]byte(text), references)
		require.NoError(t, err)
		want, err := decodeFields([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
		return got
	}
	read("a", "a")
	b, d := read("b", "b"), read("d", "d")
	same := func(x, y map[string]any, path ...string) bool {
		return pointerTo(at(&unstructured.Unstructured{Object: x}, path...)) == pointerTo(at(&unstructured.Unstructured{Object: y}, path...))
	}
	assert.True(t, same(b, d, "f:data"), "what doesn't name the owner is there once")
	assert.True(t, same(b, d, "f:metadata", "f:labels"))
	assert.False(t, same(b, d, "f:metadata"))
	read("e", "e", "f")
	read("e", "other")
	read("", "")
	assert.Equal(t, d, read("d", "d"), "and nobody has changed it")
	for reason, text := range map[string]string{
		"nothing": ``, "no map": `[]`, "cut off": `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":`, "text": `"x"`,
	} {
		_, err := c.fields([]byte(text), []metav1.OwnerReference{{UID: "a"}})
		assert.Error(t, err, reason)
	}
}

// What stands for many is what the text says, whoever owns the object.
func FuzzFieldSets(f *testing.F) {
	f.Add(fieldsText("a", 1), "a")
	f.Add(`{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":{}},"f:labels":{"f:a":{}}}}`, "a")
	f.Add(`{"f:x":{"k:{\"uid\":\"a\"}":{}}}`, "a")
	f.Add(`{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"0\"}":{},"k:{\"uid\":\"1\"}":{}}}}`, "1")
	f.Fuzz(func(t *testing.T, text, uid string) {
		c := newCommon()
		want, failure := decodeFields([]byte(text))
		for range 4 {
			got, err := c.fields([]byte(text), []metav1.OwnerReference{{UID: types.UID(uid)}})
			require.Equal(t, failure == nil, err == nil)
			require.Equal(t, want, got)
		}
	})
}
