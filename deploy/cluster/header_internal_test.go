package cluster

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func TestPeek(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		document string
		want     string // kind, namespace, name, uid, version
	}{
		"as servers write it":       {`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"7"},"data":{"x":"y"}}`, "v1 ConfigMap b a u 7"},
		"what else is in it":        {`{"data":{"resourceVersion":"8","uid":"x","metadata":{"uid":"z"}},"kind":"K","apiVersion":"g/v1","metadata":{"annotations":{"uid":"no","q":"\"}]\\"},"ownerReferences":[{"uid":"no"}],"uid":"u","resourceVersion":"7","name":"a"}}`, "g/v1 K  a u 7"},
		"with spaces":               {"{ \"kind\" : \"K\" ,\n\"apiVersion\":\"v1\", \"n\": -1.5e3, \"b\": [true, null, {}], \"metadata\" : { \"uid\" : \"u\", \"resourceVersion\":\"7\" } }", "v1 K   u 7"},
		"one that is being deleted": {`{"kind":"K","apiVersion":"v1","metadata":{"uid":"u","resourceVersion":"7","deletionTimestamp":"2030-01-01T00:00:00Z"}}`, ""},
		"without a version":         {`{"kind":"K","apiVersion":"v1","metadata":{"uid":"u"}}`, ""},
		"a uid that is a number":    {`{"kind":"K","apiVersion":"v1","metadata":{"uid":1,"resourceVersion":"7"}}`, ""},
		"a name with an escape":     {`{"kind":"K","apiVersion":"v1","metadata":{"name":"\u0061","uid":"u","resourceVersion":"7"}}`, ""},
		"metadata that is no map":   {`{"kind":"K","apiVersion":"v1","metadata":[]}`, ""},
		"cut off":                   {`{"kind":"K","apiVersion":"v1","metadata":{"uid":"u","resourceVersion":"7"`, ""},
		"cut off in a text":         {`{"kind":"K","apiVersion":"v1","metadata":{"uid":"u","resourceVersion":"7"},"x":"\`, ""},
		"nothing":                   {``, ""},
		"a list":                    {`[1]`, ""},
		"empty":                     {`{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, ok := peek([]byte(row.document))
			assert.Equal(t, row.want != "", ok)
			if ok {
				assert.Equal(t, row.want, strings.Join([]string{string(h.apiVersion), string(h.kind), string(h.namespace), string(h.name), string(h.uid), string(h.version)}, " "))
			}
		})
	}
}

// What peek reads of a document is what its decoder reads.
func FuzzPeek(f *testing.F) {
	f.Add([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"7"}}`))
	f.Add([]byte(`{"data":{"metadata":{"uid":"z"}},"x":[{},"\"",1],"metadata":{"uid":"u","resourceVersion":"7"}}`))
	f.Add([]byte(`{"metadata":{"uid":"u","resourceVersion":"7"},"metadata":{"uid":"v"}}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		h, ok := peek(document)
		var content map[string]any
		if !ok || !utf8.Valid(document) || json.Unmarshal(document, &content) != nil || strings.Count(string(document), `"metadata"`) > 1 {
			return
		}
		metadata, _ := content["metadata"].(map[string]any)
		if len(metadata) < strings.Count(string(document), `"uid"`) {
			return // keys that are there twice, of which either may count
		}
		assert.Equal(t, metadata["uid"], string(h.uid))
		assert.Equal(t, metadata["resourceVersion"], string(h.version))
	})
}

func TestDecodeReuses(t *testing.T) {
	t.Parallel()
	const document = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"7"},"data":{"n":"1"}}`
	held := &unstructured.Unstructured{Object: map[string]any{"held": true}}
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "b", Name: "a"}
	protobuf := protobufOf(t, metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "7"})
	for reason, row := range map[string]struct {
		document []byte
		kind     schema.GroupVersionKind
		whole    bool
	}{
		"a whole object":                    {[]byte(document), schema.GroupVersionKind{}, true},
		"metadata, which doesn't say whose": {[]byte(document), ref.Kind, false},
		"metadata as protobuf":              {protobuf, ref.Kind, false},
	} {
		asks := func(asked deploy.Ref, uid types.UID, version string, whole bool) *unstructured.Unstructured {
			assert.Equal(t, ref, asked, reason)
			assert.Equal(t, "u 7", string(uid)+" "+version, reason)
			assert.Equal(t, row.whole, whole, reason)
			return held
		}
		obj, err := decoder{known: asks}.decode(row.document, row.kind)
		require.NoError(t, err, reason)
		assert.Same(t, held, obj, reason)
	}
	none := func(deploy.Ref, types.UID, string, bool) *unstructured.Unstructured { return nil }
	for _, known := range []known{none, nil} {
		obj, err := decoder{known: known}.decode([]byte(strings.Replace(document, `"1"`, `1`, 1)), schema.GroupVersionKind{})
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"n": int64(1)}, obj.Object["data"])
	}
	for _, bad := range []string{``, `[]`, `"x"`, `{}`, `{"kind":1}`, `{"kind":"K"`, `null`} {
		_, err := decoder{known: none}.decode([]byte(bad), schema.GroupVersionKind{})
		assert.Error(t, err, bad)
	}
}

func TestStreamEvents(t *testing.T) {
	t.Parallel()
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}`
	for name, row := range map[string]struct {
		stream string
		want   []string
		err    string
	}{
		"as servers write them": {`{"type":"ADDED","object":` + object + "}\n" + `{"type":"DELETED","object":` + object + "}\n", []string{"ADDED a", "DELETED a"}, "EOF"},
		"with spaces":           {"{ \"object\": " + object + ",\n \"type\": \"MODIFIED\"}\n\n", []string{"MODIFIED a"}, "EOF"},
		"over several lines":    {"{\"type\":\"ADDED\",\"object\":{\n\"kind\":\"K\",\"apiVersion\":\"v1\",\n\"metadata\":{\"name\":\"b\"}}\n}\n", []string{"ADDED b"}, "EOF"},
		"no line's end":         {`{"type":"BOOKMARK","object":` + object + `}`, []string{"BOOKMARK a"}, "EOF"},
		"an error":              {`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}` + "\n", []string{"ERROR 410"}, "EOF"},
		"cut off":               {`{"type":"ADDED","object":{"kind":"Conf`, nil, "unexpected EOF"},
		"no JSON":               {"<html>\n", nil, "an event: invalid character '<' looking for beginning of value"},
		"another type":          {`{"type":"GONE","object":` + object + "}\n", nil, `an event of type "GONE"`},
		"an object that can't be read is left out": {`{"type":"ADDED","object":{"metadata":{}}}` + "\n" + `{"type":"ADDED","object":` + object + "}\n", []string{"ADDED a"}, "EOF"},
		"a bookmark that is none":                  {`{"type":"BOOKMARK","object":"x"}` + "\n", nil, "a bookmark: json: cannot unmarshal string into Go value of type map[string]interface {}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(document []byte) *unstructured.Unstructured {
				obj, _ := decoder{}.decode(document, schema.GroupVersionKind{})
				return obj
			}
			stream := newEvents(io.NopCloser(strings.NewReader(row.stream)), read)
			var seen []string
			for {
				kind, obj, err := stream.Decode()
				if err != nil {
					assert.EqualError(t, err, row.err)
					break
				}
				if kind == watch.Error {
					seen = append(seen, "ERROR 410")
					continue
				}
				seen = append(seen, string(kind)+" "+obj.(*unstructured.Unstructured).GetName())
			}
			assert.Equal(t, row.want, seen)
		})
	}
}
