package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What others own beside is written back as it is, though a View shows less of it.
func TestTakeOverLeavesOthers(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, cart)
	m := must(deploy.NewManager(c))
	carts := others(t, env, cart)
	_, err := carts.Create(t.Context(), object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart, labels: {old: theirs}}}"),
		metav1.CreateOptions{FieldManager: "kubectl-create"})
	require.NoError(t, err)
	edit(t, carts, "cart", `{"status":{"theirs":"x"}}`, "status")
	edit(t, carts, "cart", `{"metadata":{"annotations":{"note":"theirs"}}}`)
	ref := deploy.Ref{Kind: cart, Namespace: env.Namespace, Name: "cart"}
	eventually(t, c, ref, func(obj *unstructured.Unstructured) bool { return obj.GetAnnotations()["note"] != "" })

	mark := env.Mark(t)
	result := apply(t, must(deploy.NewManager(c, deploy.TakeOverFrom("kubectl-create"))), object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart, labels: {new: ours}}}"))
	require.NoError(t, result.Err)
	assert.Equal(t, map[string]int{"get carts.deploy.operkit.dev": 1, "patch carts.deploy.operkit.dev": 2}, env.CallsSince(t, mark, env.Self).Count())
	live, err := carts.Get(t.Context(), "cart", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"new": "ours"}, live.GetLabels(), "what was taken over and isn't wanted is gone")
	assert.Equal(t, map[string]any{"theirs": "x"}, live.Object["status"])
	entries := map[string]string{}
	for _, entry := range live.GetManagedFields() {
		entries[entry.Manager+" "+string(entry.Operation)+" "+entry.Subresource] = string(entry.FieldsV1.GetRawBytes())
	}
	assert.Equal(t, map[string]string{
		"operkit Apply ":             `{"f:metadata":{"f:annotations":{"f:operkit.dev/applied-operkit":{}},"f:labels":{"f:new":{}}}}`,
		"kubectl-edit Update status": `{"f:status":{".":{},"f:theirs":{}}}`,
		"kubectl-edit Update ":       `{"f:metadata":{"f:annotations":{".":{},"f:note":{}}}}`,
	}, entries)
	assert.Equal(t, deploy.Unchanged, apply(t, m, object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart, labels: {new: ours}}}")).Action)
}
