package main

import (
	"os"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Every right of the role that is shipped is used in the life of a set, or there is a reason to have it.
func TestCatSetRights(t *testing.T) {
	t.Parallel()
	w := completeWorld(t)
	w.edit(`{"spec":{"replicas":1}}`)
	w.complete("1 ready 1 updated 1")
	w.Delete(v1.CatSetKind, "nginx")
	w.gone(v1.CatSetKind, "nginx")

	w.process.Stop(t) // its watches are counted when they end
	used := w.Calls(t, w.operator).Count()
	for _, right := range rights(t) {
		if unused[right] == "" {
			assert.NotZero(t, used[right], "nobody has used the right: %s", right)
		}
	}
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "the rights suffice")
}

// unused are the rights whose use this test can't see.
var unused = map[string]string{
	"get catsets.examples.operkit.dev":               "when its watch is broken, or somebody else has written meanwhile",
	"get pods":                                       "when its watch is broken",
	"get services":                                   "when its watch is broken",
	"get persistentvolumeclaims":                     "when its watch is broken",
	"list catsets.examples.operkit.dev":              "of an API server that doesn't send all objects by the watch",
	"list pods":                                      "of an API server that doesn't send all objects by the watch",
	"list services":                                  "of an API server that doesn't send all objects by the watch",
	"list persistentvolumeclaims":                    "of an API server that doesn't send all objects by the watch",
	"create pods":                                    "needed by the patch that creates",
	"create services":                                "needed by the patch that creates",
	"create persistentvolumeclaims":                  "needed by the patch that creates",
	"list resourcequotas":                            "when a quota is exceeded",
	"create events.events.k8s.io":                    "a warning, of which this life has none",
	"patch events.events.k8s.io":                     "an event that comes again",
	"update catsets.examples.operkit.dev/finalizers": "needed by the patch that sets the owner, on clusters that look after that",
}

// rights returns the rights of the role that is shipped, as calls are counted: "patch deployments.apps".
func rights(t *testing.T) (rights []string) {
	t.Helper()
	content, err := os.ReadFile("config/rbac/role.yaml")
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict(content, &role))
	for _, rule := range role.Rules {
		require.Len(t, rule.APIGroups, 1)
		for _, resource := range rule.Resources {
			name, subresource, isSub := strings.Cut(resource, "/")
			if rule.APIGroups[0] != "" {
				name += "." + rule.APIGroups[0]
			}
			if isSub {
				name += "/" + subresource
			}
			for _, verb := range rule.Verbs {
				rights = append(rights, verb+" "+name)
			}
		}
	}
	return rights
}
