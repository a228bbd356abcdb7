package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Every right of the role that is shipped is asked for in the life of a memcached, or there is a reason to have it.
func TestRights(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	patch := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "four"}, "spec": map[string]any{
		"apiVersion": "examples.operkit.dev/v1", "kind": "Memcached", "name": "hello", "patchType": "strategic",
		"patch": map[string]any{"memcached": map[string]any{"deployment": map[string]any{"spec": map[string]any{"replicas": int64(4)}}}},
	}}}
	patch.SetGroupVersionKind(temporaryPatches)
	w.Create(patch)
	w.Eventually("the patch is applied", func() bool { return *w.deployment().Spec.Replicas == 4 })
	w.Delete(temporaryPatches, "four")
	w.Eventually("and taken back", func() bool { return *w.deployment().Spec.Replicas == 3 })
	w.settled()

	calls := w.Calls(t, w.operator)
	assert.Empty(t, calls.Forbidden(), "the rights suffice")
	asked := calls.Count()
	for _, right := range rights(t) {
		if asked[right] == 0 {
			assert.NotEmpty(t, unasked[right], "nobody has asked for %s", right)
		}
	}
}

// unasked are the rights that this test can't see the use of.
var unasked = map[string]string{
	"get memcacheds.examples.operkit.dev":               "when its watch is broken",
	"get deployments.apps":                              "when its watch is broken, or somebody else has written meanwhile",
	"get temporarypatches.operkit.dev":                  "when its watch is broken",
	"list memcacheds.examples.operkit.dev":              "of an API server that doesn't send what there is by the watch",
	"list deployments.apps":                             "of an API server that doesn't send what there is by the watch",
	"list temporarypatches.operkit.dev":                 "of an API server that doesn't send what there is by the watch",
	"create deployments.apps":                           "asked for by the patch that creates",
	"update memcacheds.examples.operkit.dev/finalizers": "asked for by the patch that sets the owner, on clusters that look after that",
	"patch events.events.k8s.io":                        "an event that is told again",
}

// rights are those of the role that is shipped, as calls are counted: "patch deployments.apps".
func rights(t *testing.T) (rights []string) {
	t.Helper()
	content, err := os.ReadFile("config/rbac/role.yaml")
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict(content, &role))
	for _, rule := range role.Rules {
		require.Len(t, rule.APIGroups, 1)
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, verb+" "+target(resource, rule.APIGroups[0]))
			}
		}
	}
	return rights
}

// target names a resource with its group: "memcacheds/status" is "memcacheds.examples.operkit.dev/status".
func target(resource, group string) string {
	name, subresource, found := strings.Cut(resource, "/")
	if !found {
		return name + "." + group
	}
	return name + "." + group + "/" + subresource
}
