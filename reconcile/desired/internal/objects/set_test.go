package objects

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	pods  = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	nodes = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
)

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

func TestSet(t *testing.T) {
	t.Parallel()
	a, b, c, node := object(pods, "m", "b"), object(pods, "n", "a"), object(pods, "n", "b"), object(nodes, "", "a")
	second := object(pods, "n", "b")
	collected := Collect(c, node, a, b, second)
	grouped := Grouped([]*unstructured.Unstructured{node, a, b, second})
	assert.Equal(t, grouped, collected, "in whatever order, and the last one of a name counts")
	assert.Equal(t, []*unstructured.Unstructured{a, b, second}, collected.Of(pods))
	assert.Equal(t, 4, collected.Len())
	assert.Empty(t, Grouped(nil).Of(pods))
	for _, row := range []struct {
		reason, name string
		kind         schema.GroupVersionKind
		want         *unstructured.Unstructured
	}{
		{"the first namespace that has it", "b", pods, a},
		{"in any namespace", "a", pods, b},
		{"of a namespace", "n/b", pods, second},
		{"of none", "a", nodes, node},
		{"no such name", "x", pods, nil},
		{"no such name in the namespace", "m/a", pods, nil},
		{"no such kind", "a", schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, nil},
	} {
		assert.Same(t, row.want, collected.Named(row.kind, row.name), row.reason)
	}
	assert.Same(t, b, collected.At(deploy.RefOf(b)))
	assert.Nil(t, Set{}.At(deploy.RefOf(b)))
}
