package deploy_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestOwned(t *testing.T) {
	t.Parallel()
	theirs := owned(named(settings(t, "{}"), "by-hand"), reference("a"))
	given := owned(named(settings(t, "{}"), "given"), controlling("a"))
	cluster := newCluster(t, theirs, given, owned(named(settings(t, "{}"), "theirs"), controlling("b")))
	m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("a"))))
	elsewhere := named(settings(t, "{}"), "elsewhere")
	elsewhere.SetNamespace("bank")
	apply(t, m, named(settings(t, "{}"), "two"))
	apply(t, m, named(settings(t, "{}"), "one"))
	apply(t, m, elsewhere, deploy.OwnedByLabel())
	apply(t, m, web(t, "{}"))
	apply(t, m, named(settings(t, "{}"), "others"), deploy.OwnedBy(cart("b")))
	cluster.take()

	refs := func(objects []*unstructured.Unstructured, err error) (names []string) {
		require.NoError(t, err)
		for _, obj := range objects {
			names = append(names, deploy.RefOf(obj).String())
		}
		return names
	}
	unknown := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Unknown"}
	kinds := []schema.GroupVersionKind{deployment, unknown, configMap}
	assert.Equal(t, []string{"Deployment shop/web", "ConfigMap shop/one", "ConfigMap shop/two"}, refs(m.Owned(t.Context(), kinds, nil)),
		"neither what another owner has, nor what somebody else made for this one")
	assert.Equal(t, []string{"Deployment shop/web", "ConfigMap shop/one", "ConfigMap shop/two", "ConfigMap bank/elsewhere"},
		refs(m.Owned(t.Context(), kinds, nil, deploy.OwnedByLabel())))
	wanted := func(ref deploy.Ref) bool { return ref.Name == "two" || ref.Name == "elsewhere" }
	assert.Equal(t, []string{"Deployment shop/web", "ConfigMap shop/one"}, refs(m.Owned(t.Context(), kinds, wanted, deploy.OwnedByLabel())))
	t.Run("owned 1: what somebody else made and the owner controls", func(t *testing.T) {
		assert.Equal(t, []string{"Deployment shop/web", "ConfigMap shop/given", "ConfigMap shop/one", "ConfigMap shop/two"},
			refs(m.Owned(t.Context(), kinds, nil, deploy.ControlledToo())), "and not what only references it")
	})
	assert.Empty(t, refs(m.Owned(t.Context(), kinds[:0], nil)))
	_, err := must(deploy.NewManager(cluster)).Owned(t.Context(), kinds, nil)
	require.EqualError(t, err, "nil owner: use OwnedBy")

	asked := &ownedCluster{recording: cluster}
	assert.Equal(t, []string{"ConfigMap shop/one"}, refs(must(deploy.NewManager(asked, deploy.OwnedBy(cart("a")))).Owned(t.Context(), kinds[2:], nil)),
		"a View that knows better is asked, and what it says is looked at")
	assert.Equal(t, []string{"ConfigMap shop a-uid"}, asked.calls)
}

// ownedCluster is a cluster whose View finds objects by their owners.
type ownedCluster struct {
	*recording
	calls []string
}

func (c *ownedCluster) View() deploy.View { return ownedView{c.recording.View(), c} }

type ownedView struct {
	deploy.View
	cluster *ownedCluster
}

func (v ownedView) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	v.cluster.calls = append(v.cluster.calls, kind.Kind+" "+namespace+" "+string(owner))
	var found []*unstructured.Unstructured
	for _, name := range []string{"one", "others"} {
		obj, err := v.View.Get(ctx, deploy.Ref{Kind: kind, Namespace: namespace, Name: name})
		if err != nil {
			return nil, err
		}
		found = append(found, obj)
	}
	return found, nil
}
