package main

import (
	"os"
	"strings"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/from-kopf/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Every right of the role that is shipped is asked for in the life of a claim, or there is a reason to have it.
func TestFromKopfRights(t *testing.T) {
	t.Parallel()
	w := settledWorld(t)
	w.process.Stop(t)
	w.Merge(v1.EphemeralVolumeClaimKind, "hello", `{"spec":{"ttl":"1s"}}`)
	w.Eventually("a second is over", func() bool {
		return time.Since(w.Get(v1.EphemeralVolumeClaimKind, "hello").GetCreationTimestamp().Time) > 2*time.Second
	})
	w.start()
	w.gone(v1.EphemeralVolumeClaimKind, "hello")
	w.gone(pvcKind, "hello")

	w.process.Stop(t) // its watches and events are told then
	assert.Empty(t, w.unusedRights(), "nobody has asked for these")
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "the rights suffice")
}

// unusedRights returns the rights of the role that are not asked for and not in unasked.
func (w *world) unusedRights() (unused []string) {
	w.t.Helper()
	asked := w.Calls(w.t, w.operator).Count()
	for _, right := range rights(w.t) {
		if asked[right] == 0 && unasked[right] == "" {
			unused = append(unused, right)
		}
	}
	return unused
}

// unasked are the rights that this test can't see the use of.
var unasked = map[string]string{
	"get " + claims:                    "when its watch is broken, or somebody else has written meanwhile",
	"get pods":                         "when its watch is broken",
	"list " + claims:                   "of an API server that doesn't send what there is by the watch",
	"list " + volumes:                  "of an API server that doesn't send what there is by the watch",
	"list pods":                        "of an API server that doesn't send what there is by the watch",
	"create " + volumes:                "asked for by the patch that creates",
	"update " + claims + "/finalizers": "asked for by the patch that sets the owner, on clusters that look after that",
	"get " + volumes:                   "when its watch is broken",
	"create events.events.k8s.io":      "a warning, of which this life has none",
	"patch events.events.k8s.io":       "an event that is told again",
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

// target names a resource with its group: "ephemeralvolumeclaims/status" is "ephemeralvolumeclaims.examples.operkit.dev/status".
func target(resource, group string) string {
	name, subresource, found := strings.Cut(resource, "/")
	if group != "" {
		name += "." + group
	}
	if !found {
		return name
	}
	return name + "/" + subresource
}
