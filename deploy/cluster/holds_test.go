package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestHolds has which kinds a View reports to hold, and that reads of these are no calls.
func TestHolds(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	secret := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	pod := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.MetadataOnly(service.GroupKind()),
		cluster.Selected(secret.GroupKind(), labels.SelectorFromSet(labels.Set{"tier": "web"}), nil))
	view := c.View().(interface {
		Holds(kind schema.GroupVersionKind, namespace string) bool
	})
	assert.False(t, view.Holds(configMap, env.Namespace), "nobody has asked for it")
	for _, kind := range []schema.GroupVersionKind{configMap, service, secret} {
		watch(t, c, kind)
	}
	for _, row := range []struct {
		reason    string
		kind      schema.GroupVersionKind
		namespace string
		want      bool
	}{
		{"it is watched", configMap, env.Namespace, true},
		{"another namespace isn't watched", configMap, "default", false},
		{"metadata alone is held", service, env.Namespace, false},
		{"some of them are held", secret, env.Namespace, false},
		{"it isn't watched", pod, env.Namespace, false},
	} {
		assert.Equal(t, row.want, view.Holds(row.kind, row.namespace), row.reason)
	}
	mark := env.Mark(t)
	_, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
	require.NoError(t, err)
	_, err = c.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "nobody"})
	require.NoError(t, err)
	assert.Empty(t, env.CallsSince(t, mark).Reads())
}
