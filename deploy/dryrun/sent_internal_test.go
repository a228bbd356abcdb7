package dryrun

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FuzzSent: what is copied directly is what the way through JSON makes of it.
func FuzzSent(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[null,1.5,{"c":"d"}]}`, `{"a":1e21,"b":-0.0,"c":9007199254740993}`, `{"a":{},"b":[],"c":""}`, `{"ä":"ö"}`,
	} {
		f.Add([]byte(seed), 1.0)
	}
	f.Add([]byte(`{}`), math.Inf(1))
	f.Add([]byte(`{}`), 1e15)
	f.Fuzz(func(t *testing.T, body []byte, number float64) {
		var content map[string]any
		if json.Unmarshal(body, &content) != nil || content == nil {
			return
		}
		delete(content, "items")
		content["apiVersion"], content["kind"], content["number"] = "v1", "K", number
		obj := &unstructured.Unstructured{Object: content}
		text, err := obj.MarshalJSON()
		direct, directErr := asSent(obj)
		if err != nil {
			require.Error(t, directErr)
			return
		}
		want := &unstructured.Unstructured{}
		if want.UnmarshalJSON(text) != nil {
			return
		}
		require.NoError(t, directErr)
		assert.Equal(t, want.Object, direct.Object)
	})
}

func TestSentByJSON(t *testing.T) {
	t.Parallel()
	type word string
	obj := &unstructured.Unstructured{Object: map[string]any{
		"kind": "K", "text": "a\xffb", "typed": map[string]any{"a": word("b"), "c": []string{"d"}, "e": uint8(1)},
	}}
	got, err := asSent(obj)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"kind": "K", "text": "a�b", "typed": map[string]any{"a": "b", "c": []any{"d"}, "e": int64(1)},
	}, got.Object)
}
