package main

import (
	"os"
	"strings"
	"testing"

	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func TestRoleSufficesAndGrantsNothingMore(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(w.staging, w.production)
	w.settled()
	w.create(w.production)
	w.settled()
	w.Delete(v1.WebAppKind, w.app)
	w.AwaitQuiet(t, w.operator)
	calls := w.Calls(t, w.operator)
	assert.Empty(t, calls.Forbidden(), "the rights suffice")

	unused := map[string]string{
		"get": "when a watch is broken", "list": "when the API server can't begin a watch with what there is",
		"create configmaps": "for a patch that creates", "create services": "for a patch that creates", "create deployments.apps": "for a patch that creates",
		"update webapps.examples.operkit.dev/finalizers": "admission asks for it, no request is made",
		"patch events.events.k8s.io":                     "when the same happens again",
	}
	used := map[string]bool{}
	for _, call := range calls {
		used[call.Verb+" "+call.Target()] = true
	}
	content, err := os.ReadFile("config/rbac/role.yaml")
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict(content, &role))
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			target := named(rule.APIGroups[0], resource)
			for _, verb := range rule.Verbs {
				if unused[verb] == "" && unused[verb+" "+target] == "" {
					assert.True(t, used[verb+" "+target], "%s %s is granted and never used", verb, target)
				}
			}
		}
	}
}

// named is a resource as calls name it: "deployments.apps/status".
func named(group, resource string) string {
	resource, subresource, _ := strings.Cut(resource, "/")
	if group != "" {
		resource += "." + group
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	return resource
}
