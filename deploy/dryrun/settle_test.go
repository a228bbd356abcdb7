package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// FuzzApplySettles: whatever is applied to a kind with a schema is refused by a typed error and
// leaves no trace, or is stored, and then neither the same apply nor the same object put back
// nor an empty patch changes anything.
func FuzzApplySettles(f *testing.F) {
	for _, seed := range []string{
		`{"color":"red"}`, `{"color":"red","size":null,"boards":[{"name":"a"},{"name":"b","wood":"ash"}]}`,
		`{"color":"blue","tags":["a","b"],"port":80,"labels":{"a":"b"}}`, `{"color":"red","anything":{"a":[{"b":null}]}}`,
		`{"color":"red","template":{"metadata":{"name":"x"},"spec":{"a":"b"}}}`, `{"color":1}`, `{"boards":[{"name":"a"},{"name":"a"}]}`, `[]`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var spec any
		if apijson.Unmarshal(body, &spec) != nil {
			return
		}
		cluster := declaring(t)
		before := cluster.Objects()
		obj := shelf(t, "{}")
		obj.Object["spec"] = spec
		applied, err := cluster.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
		if err != nil {
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, before, cluster.Objects())
			return
		}
		stored := applied.Object
		assert.Equal(t, stored, apply(t, cluster, "m", obj), "the same apply")
		put, err := requests(cluster).Update(t.Context(), stored, deploy.UpdateOptions{FieldManager: "m"})
		require.NoError(t, err)
		assert.Equal(t, stored, put, "the object put back")
		assert.Equal(t, stored, merge(t, cluster, shelfRef, "other", `{}`), "an empty patch")
		spec, _, _ = unstructured.NestedFieldNoCopy(stored.Object, "spec", "size")
		assert.NotNil(t, spec, "defaults are filled in")
	})
}
