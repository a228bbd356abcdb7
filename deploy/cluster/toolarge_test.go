package cluster_test

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Three places refuse what is too large, each in its own words: the storage, the connection to it, and the API server.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata"))
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c))
	obj := object(t, env.Namespace, "{apiVersion: deploy.operkit.dev/v1, kind: Cart, metadata: {name: cart}, spec: {free: {}}}")
	require.NoError(t, unstructured.SetNestedField(obj.Object, strings.Repeat("x", 1_000_000), "spec", "free", "text"))
	ref := apply(t, m, obj).Ref
	for name, row := range map[string]struct {
		size int
		says string
	}{
		"the storage":           {600_000, "etcdserver: request is too large"},
		"the connection to it":  {1_500_000, "trying to send message larger than max"},
		"the API server itself": {4_000_000, "Request entity too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.SetStatus(t.Context(), ref, func(*unstructured.Unstructured) (map[string]any, error) {
				return map[string]any{"text": strings.Repeat("y", row.size)}, nil
			})
			require.ErrorContains(t, err, row.says)
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid, "to send it again makes no sense")
			assert.True(t, invalid.TooLarge)
		})
	}
}
