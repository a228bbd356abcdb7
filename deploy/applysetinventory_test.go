package deploy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestInventory(t *testing.T) {
	t.Parallel()
	i := newInventory()
	for _, ref := range []Ref{
		{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "shop"},
		{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}, Namespace: "west"},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "east"},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}},
	} {
		i.add(ref)
	}
	want := map[string]string{SetKindsAnnotation: "ConfigMap,Deployment.apps,Node", SetNamespacesAnnotation: "east,west"}
	assert.Equal(t, want, i.annotations("shop"), "ascending, without the parent's own namespace")
	assert.Equal(t, i, readInventory(want, "shop"))
	assert.True(t, i.with(newInventory()).holds(i))
	assert.False(t, newInventory().holds(i))

	for _, nonsense := range []Ref{
		{Kind: schema.GroupVersionKind{Kind: "A,B"}, Namespace: "a,b"},
		{Kind: schema.GroupVersionKind{Kind: "A.b"}},
		{Kind: schema.GroupVersionKind{Kind: "A", Group: "x,y"}},
		{},
	} {
		j := newInventory()
		j.add(nonsense)
		assert.Equal(t, newInventory(), j, "a name that no object has would be read as something else")
	}
	empty := map[string]string{SetKindsAnnotation: "", SetNamespacesAnnotation: ""}
	assert.Equal(t, empty, newInventory().annotations(""))
	assert.Equal(t, newInventory(), readInventory(empty, ""))
	assert.Equal(t, newInventory(), readInventory(nil, ""))
}

// FuzzInventory: what was read is written so that the same is read again.
func FuzzInventory(f *testing.F) {
	f.Add("ConfigMap,Deployment.apps", "east,west", "shop")
	f.Add(" , ConfigMap,,.x", "shop, ", "shop")
	f.Fuzz(func(t *testing.T, kinds, namespaces, own string) {
		i := readInventory(map[string]string{SetKindsAnnotation: kinds, SetNamespacesAnnotation: namespaces}, own)
		again := readInventory(i.annotations(own), own)
		require.True(t, again.holds(i) && i.holds(again), "%v\n%v", i, again)
	})
}
