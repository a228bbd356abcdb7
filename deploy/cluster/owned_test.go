package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestOwned(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	for name, options := range map[string][]cluster.Option{
		"watched":         {cluster.Namespaces(env.Namespace)},
		"metadata only":   {cluster.Namespaces(env.Namespace), cluster.MetadataOnly(configMap.GroupKind())},
		"without a watch": nil,
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, env.Config, options...)
			if options != nil {
				watch(t, c, configMap)
			}
			owner := apply(t, must(deploy.NewManager(c)), object(t, env.Namespace, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: owner}}")).Object
			m := must(deploy.NewManager(c, deploy.OwnedBy(owner)))
			settings := func(name string) *unstructured.Unstructured {
				return object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}, data: {a: b}}")
			}
			names := func() (found []string) {
				owned, err := m.Owned(t.Context(), []schema.GroupVersionKind{configMap, service}, nil)
				require.NoError(t, err)
				for _, obj := range owned {
					found = append(found, obj.GetName())
				}
				return found
			}
			apply(t, m, settings("b"))
			apply(t, m, settings("a"))
			apply(t, must(deploy.NewManager(c)), settings("free"))
			assert.Equal(t, []string{"a", "b"}, names(), "also what the watch hasn't shown yet")
			eventually(t, c, deploy.RefOf(settings("b")), func(obj *unstructured.Unstructured) bool { return obj != nil })
			mark := env.Mark(t)
			assert.Equal(t, []string{"a", "b"}, names())
			if options != nil {
				assert.Equal(t, map[string]int{"list services": 1}, env.CallsSince(t, mark, env.Self).Count(), "what is watched costs nothing")
			}
			_, err := m.Delete(t.Context(), []*unstructured.Unstructured{settings("a")})
			require.NoError(t, err)
			assert.Equal(t, []string{"b"}, names(), "nor what is deleted and shown still")
			_, err = must(deploy.NewManager(c, deploy.EvenForeign())).Delete(t.Context(), []*unstructured.Unstructured{settings("b"), settings("free"), owner}, deploy.UntilGone())
			require.NoError(t, err)
		})
	}
}
