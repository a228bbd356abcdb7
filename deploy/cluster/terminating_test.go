package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// A Namespace that is being deleted has no finalizers in its metadata, and is there until Kubernetes has emptied it.
func TestTerminatingNamespace(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	w := newTeams(t, env)
	w.create("full", nil)
	held := w.client.Resource(resources[configMap]).Namespace(w.name("full"))
	hold := func(ctx context.Context, finalizers string) error {
		_, err := held.Patch(ctx, "settings", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
		return err
	}
	require.NoError(t, hold(t.Context(), `["operkit.dev/held"]`))
	t.Cleanup(func() { _ = hold(context.WithoutCancel(t.Context()), "null") })

	c := newCluster(t, env.Admin)
	watch(t, c, namespaceKind)
	full := object(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+w.name("full")+"}}")
	m := must(deploy.NewManager(c, deploy.EvenForeign()))
	seen := func(when string) {
		t.Helper()
		obj, err := c.View().Get(t.Context(), deploy.RefOf(full))
		require.NoError(t, err)
		if assert.NotNil(t, obj, when) {
			assert.NotNil(t, obj.GetDeletionTimestamp(), when)
		}
		remaining, err := m.Gone(t.Context(), []*unstructured.Unstructured{full})
		require.NoError(t, err)
		assert.Equal(t, []deploy.Ref{deploy.RefOf(full)}, remaining, when)
	}
	results, err := m.Delete(t.Context(), []*unstructured.Unstructured{full})
	require.NoError(t, err)
	require.Equal(t, deploy.Removed, results[0].Action)
	seen("it is being emptied")

	_, err = m.Apply(t.Context(), []*unstructured.Unstructured{full})
	var terminating *deploy.TerminatingError
	require.ErrorAs(t, err, &terminating, "to apply it now would be of no use")

	labelled := full.DeepCopy()
	labelled.SetLabels(map[string]string{"size": "large"})
	_, err = c.Port().Apply(t.Context(), labelled, deploy.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
	seen("it was written once more")

	require.NoError(t, hold(t.Context(), "null"))
	require.Eventually(t, func() bool {
		obj, err := c.View().Get(t.Context(), deploy.RefOf(full))
		return err == nil && obj == nil
	}, 8*patience, 10*time.Millisecond, "its end is seen: Kubernetes has other namespaces to empty, too")
}
