package cluster

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// metadataOfChild is what an API server says of a child of an owner.
func metadataOfChild(t testing.TB, name, owner, version string) map[string]any {
	t.Helper()
	const text = `{"name":%q,"namespace":"shop","uid":"uid-of-%[1]s","resourceVersion":%[3]q,"creationTimestamp":"2030-01-01T00:00:00Z","generation":3,
		"labels":{"app":"shop","instance":%[2]q},"annotations":{"operkit.dev/applied-operkit":"hash-%[1]s"},
		"ownerReferences":[{"apiVersion":"v1","kind":"Shop","name":%[2]q,"uid":"uid-of-%[2]s","blockOwnerDeletion":true}],
		"managedFields":[
			{"manager":"operkit","operation":"Apply","apiVersion":"v1","time":"2030-01-01T00:00:0%[3]sZ","fieldsType":"FieldsV1","fieldsV1":{
				"f:metadata":{"f:labels":{"f:app":{},"f:instance":{}},"f:ownerReferences":{"k:{\"uid\":\"uid-of-%[2]s\"}":{}}},"f:data":{"f:a":{},"f:b":{}}}},
			{"manager":"tool","operation":"Update","apiVersion":"v1","time":"2030-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:x":{}}}}},
			{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2030-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:x":{}}},"subresource":"status"}]}`
	var metadata map[string]any
	require.NoError(t, kjson.Unmarshal(fmt.Appendf(nil, text, name, owner, version), &metadata))
	return metadata
}

func TestPacked(t *testing.T) {
	t.Parallel()
	c := newCommon()
	metadata := metadataOfChild(t, "a", "o", "1")
	got, _ := unpacked(c.pack(metadata)).(map[string]any)
	entries := got["managedFields"].([]any)
	require.Len(t, entries, 2, "a status is no field of an intent")
	assert.NotContains(t, entries[0], "time", "who owns content wrote it whenever it was")
	assert.Contains(t, entries[1], "time", "who put marks onto the metadata may have come later")
	want := metadataOfChild(t, "a", "o", "1")
	want["managedFields"] = entries
	delete(want["managedFields"].([]any)[0].(map[string]any), "time")
	assert.Equal(t, want, got)
	assert.Len(t, metadata["managedFields"], 3, "what was given is as it was")
}

// What objects have in common is there once, also when it is a part of a part.
func TestPackedShares(t *testing.T) {
	t.Parallel()
	c := newCommon()
	field := func(m *packedMap, path ...string) any {
		var at any = m
		for _, name := range path {
			switch v := at.(type) {
			case *packedMap:
				at = nil
				for i, key := range v.shape.keys {
					if key == name {
						at = v.values[i]
					}
				}
			case *packedList:
				at = v.items[0]
			}
		}
		return at
	}
	c.pack(metadataOfChild(t, "a", "o", "1"))
	b, other, last := c.pack(metadataOfChild(t, "b", "o", "2")), c.pack(metadataOfChild(t, "c", "p", "3")), c.pack(metadataOfChild(t, "d", "p", "4"))
	for reason, path := range map[string][]string{
		"labels of siblings": {"labels"}, "their owners": {"ownerReferences"}, "who owns what": {"managedFields"},
	} {
		assert.Same(t, field(c.pack(metadataOfChild(t, "e", "o", "5")), path...), field(b, path...), reason)
		assert.NotSame(t, field(b, path...), field(other, path...), reason)
	}
	data := []string{"managedFields", "[0]", "fieldsV1", "f:data"}
	require.NotNil(t, field(other, data...))
	assert.Same(t, field(b, data...), field(other, data...), "what doesn't name the owner")
	assert.Same(t, field(other, data...), field(last, data...))
	assert.Same(t, b.shape, last.shape)
}

// An object is unpacked anew when nobody has it any more, and is the same for all who ask at once.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := newCommon()
	first := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadataOfChild(t, "a", "o", "1")}}
	r := newRecord(c.pack(first.Object["metadata"].(map[string]any)), first)
	assert.Same(t, first, r.show(heldKind), "as it was put in")
	runtime.KeepAlive(first)
	first = nil
	require.Eventually(t, func() bool { runtime.GC(); return r.recent.Value() == nil }, time.Minute, time.Millisecond)
	var asking sync.WaitGroup
	shown := make([]*unstructured.Unstructured, 8)
	for i := range shown {
		asking.Go(func() { shown[i] = r.show(heldKind) })
	}
	asking.Wait()
	for _, obj := range shown {
		assert.Same(t, shown[0], obj)
	}
	assert.Equal(t, heldKind, shown[0].GroupVersionKind())
	assert.Equal(t, "uid-of-a", string(shown[0].GetUID()))
	assert.Len(t, shown[0].GetManagedFields(), 2)
}

func FuzzPacked(f *testing.F) {
	f.Add(`{"a":[1,2.5,"x",true,null,{"b":[]}],"c":{}}`, `{"a":[1,2.5,"x",true,null,{"b":[]}]}`)
	f.Add(`{"a":-0.0,"b":0}`, `{"a":0,"b":-0.0}`)
	f.Add(`{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":"1"}}}`)
	f.Fuzz(func(t *testing.T, one, other string) {
		c := newCommon()
		for range 3 { // seen once, twice, and as what stands for others
			for _, text := range []string{one, other} {
				var content, same map[string]any
				if kjson.Unmarshal([]byte(text), &content) != nil || kjson.Unmarshal([]byte(text), &same) != nil {
					return
				}
				delete(content, "managedFields")
				delete(same, "managedFields")
				got := unpacked(c.pack(content))
				if content == nil {
					continue
				}
				wantText, err := json.Marshal(same)
				require.NoError(t, err)
				gotText, err := json.Marshal(got)
				require.NoError(t, err)
				require.Equal(t, string(wantText), string(gotText))
				require.Equal(t, same, got)
			}
		}
	})
}
