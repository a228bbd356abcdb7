package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/protocol"
)

func named(kind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

// The names of objects in a request depend on the version of the protocol, and on the namespace of the parent.
func TestNames(t *testing.T) {
	t.Parallel()
	pods, nodes := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	deployments := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	related := []protocol.Group{
		{Kind: pods, Objects: []*unstructured.Unstructured{named("Pod", "shop", "a"), named("Pod", "other", "a"), named("Pod", "other", "b")}},
		{Kind: nodes, Objects: []*unstructured.Unstructured{named("Node", "", "n")}},
		{Kind: deployments},
	}
	for _, row := range []struct {
		reason    string
		version   definition.Version
		namespace string
		want      map[string][]string
	}{
		{"v1 has only the namespace of the parent", definition.V1, "shop", map[string][]string{"Pod.v1": {"a"}, "Node.v1": {}, "Deployment.apps/v1": {}}},
		{"v1 of a parent without a namespace", definition.V1, "", map[string][]string{"Pod.v1": {"shop/a", "other/a", "other/b"}, "Node.v1": {"n"}, "Deployment.apps/v1": {}}},
		{"v2", definition.V2, "shop", map[string][]string{"Pod.v1": {"shop/a", "other/a", "other/b"}, "Node.v1": {"n"}, "Deployment.apps/v1": {}}},
	} {
		t.Run("hooks 4: "+row.reason, func(t *testing.T) {
			t.Parallel()
			r := protocol.Request{Controller: named("CompositeController", "", "c"), Parent: named("CatSet", row.namespace, "tom"), Related: related}
			text, err := r.Encode(definition.Composite, row.version)
			require.NoError(t, err)
			again, err := r.Encode(definition.Composite, row.version)
			require.NoError(t, err)
			assert.Equal(t, text, again)
			var sent struct {
				Related    map[string]map[string]any `json:"related"`
				Children   map[string]any            `json:"children"`
				Finalizing *bool                     `json:"finalizing"`
			}
			require.NoError(t, json.Unmarshal(text, &sent))
			for kind, names := range row.want {
				assert.Len(t, sent.Related[kind], len(names), kind)
				assert.Contains(t, sent.Related, kind, "a kind without objects is there")
				for _, name := range names {
					assert.Contains(t, sent.Related[kind], name)
				}
			}
			assert.NotNil(t, sent.Children, "an empty object, not null")
			assert.False(t, *sent.Finalizing)
		})
	}
}
