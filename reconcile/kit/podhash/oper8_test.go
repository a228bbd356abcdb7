package podhash_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestOper8(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/oper8.json")
	require.NoError(t, err)
	var cases []struct {
		Reason   string
		Workload json.RawMessage
		Objects  []json.RawMessage
		Hash     string
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	read := func(raw json.RawMessage) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		require.NoError(t, utiljson.Unmarshal(raw, &obj.Object))
		return obj
	}
	for _, row := range cases {
		t.Run("podhash 17: "+row.Reason, func(t *testing.T) {
			t.Parallel()
			var objects []*unstructured.Unstructured
			for _, raw := range row.Objects {
				objects = append(objects, read(raw))
			}
			workload := read(row.Workload)
			annotated, _, err := podhash.New(podhash.Oper8()).Annotate(t.Context(), workload, "shop", reading(objects...))
			require.NoError(t, err)
			assert.Equal(t, row.Hash, templateAnnotation(annotated, "oper8.org/dependency-hash"))
			assert.Empty(t, templateAnnotation(annotated, hashKey))
			assert.Equal(t, read(row.Workload), workload, "the object isn't changed")
		})
	}
}
