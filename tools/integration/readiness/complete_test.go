package readiness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/tools/envtest"
)

// hasRule tells whether a kind has a rule of its own: only the rule for all other kinds looks at the condition
// Succeeded.
func hasRule(kind schema.GroupVersionKind) bool {
	object := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Succeeded", "status": "False", "reason": "Probe"},
		}},
	}}
	object.SetGroupVersionKind(kind)
	return readiness.Of(object).Reason != "Probe"
}

// Each kind that the API server has and that has a rule of its own has a story, and no story is about another kind.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights())
	client, err := discovery.NewDiscoveryClientForConfig(env.Admin)
	require.NoError(t, err)
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		// A group of another test may come or go just now. One of a kind with a rule would be missed below.
		require.True(t, discovery.IsGroupDiscoveryFailedError(err), "%v", err)
	}
	served := map[string]bool{}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, resource := range list.APIResources {
			kind := group.WithKind(resource.Kind)
			if resource.Group != "" {
				kind.Group = resource.Group // a subresource such as scale has a kind of another group
			}
			if hasRule(kind) {
				served[kind.GroupKind().String()] = true
			}
		}
	}
	told := map[string]bool{}
	for _, s := range kinds {
		told[s.kind] = true
		assert.True(t, served[s.kind], "%s: the API server has no such kind with a rule of its own", s.kind)
	}
	for kind := range served {
		assert.True(t, told[kind], "%s: it has a rule of its own, but no story", kind)
	}
	assert.False(t, hasRule(schema.GroupVersionKind{Group: "example.test", Version: "v1", Kind: "Thing"}), "the probe tells one from the other")
}
