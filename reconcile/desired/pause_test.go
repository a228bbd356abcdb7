package desired_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestPauseBetweenRounds(t *testing.T) {
	t.Parallel()
	t.Run("desired 76: a pause counts as soon as the round under way has ended", func(t *testing.T) {
		t.Parallel()
		var h *reconciletest.Harness
		n := 0
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			n++
			if n == 1 {
				pause := deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"annotations":{"operkit.dev/pause-execution":"true"}}}`)}
				_, err := h.Cluster().Port().Patch(t.Context(), deploy.Ref{Kind: catSets, Namespace: "test", Name: "tom"}, pause)
				require.NoError(t, err)
			}
			return nil
		}}
		h = drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		_, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		h.Exists("ConfigMap a")
		assert.Nil(t, statusOf(h)["children"])
		assert.Equal(t, metav1.ConditionTrue, h.Condition("CatSet tom", "Paused").Status)
		settles(t, h, "it rests")
		assert.Equal(t, 1, n)
		h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(nil) })
		settles(t, h, "it goes on", statusWritten)
		assert.Equal(t, int64(1), statusOf(h)["children"])
	})
}
