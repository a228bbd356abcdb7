package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

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
	got := packAndUnpack(c, metadata)
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

func packAndUnpack(c *common, metadata map[string]any) map[string]any {
	pattern, texts := c.pack(metadata)
	return (&record{pattern: pattern, texts: texts}).metadata()
}

// What a template gives objects is there once for all of them, whoever owns them; what else they have in common is there once too.
func TestPackedShares(t *testing.T) {
	t.Parallel()
	c := newCommon()
	pattern := func(metadata map[string]any) *packedMap {
		pattern, _ := c.pack(metadata)
		return pattern
	}
	managed := func(m *packedMap) any { return m.values[slices.Index(m.shape.keys, "managedFields")] }
	pattern(metadataOfChild(t, "a", "o", "1"))
	pattern(metadataOfChild(t, "b", "o", "2"))
	other, last := pattern(metadataOfChild(t, "c", "p", "3")), pattern(metadataOfChild(t, "dd", "q", "44"))
	assert.Same(t, other, last)
	finalized := metadataOfChild(t, "e", "o", "5")
	finalized["finalizers"] = []any{"x"}
	unlike := pattern(finalized)
	assert.NotSame(t, last, unlike)
	assert.Same(t, managed(last), managed(unlike))
}

// Keys that look as those of owners do where there are none.
func TestPackedOwnerKeys(t *testing.T) {
	t.Parallel()
	for reason, fields := range map[string]string{
		"two owners":           `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"a\"}":{},"k:{\"uid\":\"b\"}":{"f:x":{}}}}}`,
		"no uid":               `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"\"}":{}}}}`,
		"another key":          `{"f:metadata":{"f:ownerReferences":{"k:{\"name\":\"a\"}":{}, "k:{\"uid\":\"a\",\"x\":1}":{}, "k:{\"uid\":\"":{}}}}`,
		"not of the metadata":  `{"f:spec":{"f:ownerReferences":{"k:{\"uid\":\"\"}":{},"k:{\"uid\":\"a\"}":{}}}}`,
		"a text where one is":  `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":"x"}}}`,
		"a list where maps go": `{"f:metadata":[{"f:ownerReferences":{"k:{\"uid\":\"a\"}":{}}}]}`,
	} {
		text := `{"name":"n","managedFields":[{"manager":"m","fieldsV1":` + fields + `}]}`
		var want map[string]any
		require.NoError(t, kjson.Unmarshal([]byte(text), &want))
		c := newCommon()
		for range 3 { // seen once, twice, and as what stands for others
			var metadata map[string]any
			require.NoError(t, kjson.Unmarshal([]byte(text), &metadata))
			require.Equal(t, want, packAndUnpack(c, metadata), reason)
		}
	}
}

// The objects that were looked at last are at hand; others are unpacked anew.
func TestRecord(t *testing.T) {
	t.Parallel()
	c := newCommon()
	object := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadataOfChild(t, name, "o", "1")}}
	}
	first := object("a")
	r := c.newRecord(first)
	assert.Same(t, first, c.show(r, heldKind), "as it was put in")
	for n := range recentPlaces - 1 {
		c.newRecord(object(fmt.Sprint("other-", n)))
	}
	assert.Same(t, first, c.show(r, heldKind))
	c.newRecord(object("one-more"))
	shown := c.show(r, heldKind)
	assert.NotSame(t, first, shown, "its place was taken")
	assert.Same(t, shown, c.show(r, heldKind))
	assert.Equal(t, heldKind, shown.GroupVersionKind())
	assert.Equal(t, "uid-of-a", string(shown.GetUID()))
	assert.Len(t, shown.GetManagedFields(), 2)
	var asking sync.WaitGroup
	for n := range 8 {
		asking.Go(func() {
			for m := range 2 * recentPlaces {
				c.newRecord(object(fmt.Sprint("busy-", n, "-", m)))
				assert.Equal(t, "uid-of-a", string(c.show(r, heldKind).GetUID()))
			}
		})
	}
	asking.Wait()
	bare := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "b"}, "apiVersion": "v1", "data": map[string]any{}}}
	assert.NotContains(t, c.show(c.newRecord(bare), heldKind).Object, "data", "it has nothing but metadata")
}

func FuzzPacked(f *testing.F) {
	f.Add(`{"a":[1,2.5,"x",true,null,{"b":[]}],"c":{}}`, `{"a":[1,2.5,"x",true,null,{"b":[]}]}`)
	f.Add(`{"a":-0.0,"b":0}`, `{"a":0,"b":-0.0}`)
	f.Add(`{"managedFields":[{"manager":"m","time":"t","fieldsV1":{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"a\"}":{}}}}}]}`, `{"managedFields":[{"time":"t","fieldsV1":{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"b\"}":1}}}},1]}`)
	f.Add(`{"labels":{"a":"b","c":1},"ownerReferences":[{"uid":"u","name":1},{"uid":"v","kind":"K"},"x"]}`, `{"labels":["a"],"ownerReferences":{"uid":"u"},"annotations":"x"}`)
	f.Add(`{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":"1"}}}`)
	f.Fuzz(func(t *testing.T, one, other string) {
		c := newCommon()
		for range 3 { // seen once, twice, and as what stands for others
			for _, text := range []string{one, other} {
				var content, same map[string]any
				if kjson.Unmarshal([]byte(text), &content) != nil || kjson.Unmarshal([]byte(text), &same) != nil {
					return
				}
				if entries, ok := same["managedFields"].([]any); ok {
					same["managedFields"] = neededEntries(entries)
				}
				got := packAndUnpack(c, content)
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
