package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/buckets/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Every right of the role that is shipped is asked for in the life of a bucket, or there is a reason to have it.
func TestBucketsRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.storm("PUT /buckets/"+w.name(), http.StatusInternalServerError)
	w.create()
	w.added()
	w.Delete(v1.BucketKind, "photos")
	w.gone()
	w.process.Stop(t) // its watches and events are known then

	asked := w.Calls(t, w.operator).Count()
	unused := []string{}
	for _, right := range rights(t) {
		if asked[right] == 0 && unasked[right] == "" {
			unused = append(unused, right)
		}
	}
	assert.Empty(t, unused, "nobody has asked for these")
	assert.Empty(t, w.Calls(t, w.operator).Forbidden(), "the rights suffice")
}

// unasked are the rights that this test can't see the use of.
var unasked = map[string]string{
	"get " + buckets:             "when its watch is broken, or somebody else has written meanwhile",
	"list " + buckets:            "of an API server that doesn't send what there is by the watch",
	"patch events.events.k8s.io": "an event that is repeated",
}

// rights are those of the role that is shipped, as calls are counted: "patch buckets.examples.operkit.dev".
func rights(t *testing.T) (rights []string) {
	t.Helper()
	content, err := os.ReadFile("config/rbac/role.yaml")
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict(content, &role))
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, verb+" "+resource+"."+strings.Join(rule.APIGroups, ""))
			}
		}
	}
	return rights
}
