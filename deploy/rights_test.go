package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// permission is a rule for one resource.
func permission(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// ofNames restricts a rule to objects with names.
func ofNames(rule rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	rule.ResourceNames = names
	return rule
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why   string
		rules deploy.Rules
		want  string
	}{
		{"rights 1: nothing", nil, ""},
		{"rights 1: the verbs of a resource are one rule, in their usual order", deploy.Rules{"": {
			permission("apps", "deployments", "delete"), permission("apps", "deployments", "create"), permission("apps", "deployments", "get", "create")}},
			"ClusterRole: rules: [{apiGroups: [apps], resources: [deployments], verbs: [get, create, delete]}]"},
		{"rights 1: resources of a group with the same verbs are one rule, others aren't; the core group comes first", deploy.Rules{"": {
			permission("apps", "statefulsets", "get", "list"), permission("apps", "deployments", "list", "get"), permission("", "secrets", "patch"),
			permission("", "configmaps", "get")}},
			"ClusterRole: rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}, {apiGroups: [''], resources: [secrets], verbs: [patch]}, " +
				"{apiGroups: [apps], resources: [deployments, statefulsets], verbs: [get, list]}]"},
		{"rights 4: objects with names have rules of their own, without what is for all objects", deploy.Rules{"": {
			ofNames(permission("", "serviceaccounts", "impersonate"), "b", "a"), ofNames(permission("", "serviceaccounts", "impersonate", "get"), "c"),
			permission("", "serviceaccounts", "get"), ofNames(permission("", "users", "impersonate"), "a"), ofNames(permission("", "secrets", "get"), "s"), permission("", "secrets", "get")}},
			"ClusterRole: rules: [{apiGroups: [''], resources: [secrets, serviceaccounts], verbs: [get]}, " +
				"{apiGroups: [''], resources: [serviceaccounts], resourceNames: [a, b, c], verbs: [impersonate]}, " +
				"{apiGroups: [''], resources: [users], resourceNames: [a], verbs: [impersonate]}]"},
		{"rights 1: a role for each namespace", deploy.Rules{"shop": {permission("", "secrets", "get")}, "": {permission("", "nodes", "get")}, "mall": {permission("", "pods", "get")}},
			"ClusterRole: rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]; " +
				"Role in the namespace mall: rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]; " +
				"Role in the namespace shop: rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, row.rules.Merged().String())
		})
	}
	rules := deploy.Rules{"": {permission("", "secrets", "get"), permission("*", "widgets/status", "patch")}}.Merged()
	var role rbacv1.ClusterRole
	text := rules.String()[len("ClusterRole: "):]
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &role))
	assert.Equal(t, rules[""], role.Rules, "rights 1: what is pasted is what is meant")
}

func ExampleRules() {
	missing := deploy.Rules{"shop": {
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
	}}
	fmt.Println(missing.Merged())
	// Output: Role in the namespace shop: rules: [{apiGroups: [''], resources: [configmaps], verbs: [create, patch]}]
}

// reviewing is a view that knows which rights are missing.
type reviewing struct {
	deploy.View
	missing deploy.Rules
	err     error
	asked   []deploy.Right
}

func (r *reviewing) MissingRights(_ context.Context, rights []deploy.Right) (deploy.Rules, error) {
	r.asked = append(r.asked, rights...)
	return r.missing, r.err
}

func TestWithMissingRights(t *testing.T) {
	t.Parallel()
	refused := func(text string) error {
		return &deploy.ForbiddenError{Verb: "list", Resource: schema.GroupResource{Resource: "nodes"}, Err: errors.New(text)}
	}
	right := refused(`User "x" cannot list resource "nodes"`)
	secrets := deploy.Rules{"": {permission("", "secrets", "get")}}
	for _, row := range []struct {
		why     string
		err     error
		missing deploy.Rules
		failed  error
		asks    bool
		want    string
	}{
		{"rights 3: without an error nothing is asked", nil, secrets, nil, false, ""},
		{"rights 3: nor after another error", errors.New("no"), secrets, nil, false, ""},
		{"rights 3: nor when admission refuses", refused("exceeded quota"), secrets, nil, false, ""},
		{"the refused request is one of the rights that are missing", fmt.Errorf("web: %w", right), secrets, nil, true,
			"ClusterRole: rules: [{apiGroups: [''], resources: [nodes], verbs: [list]}, {apiGroups: [''], resources: [secrets], verbs: [get]}]"},
		{"a right is named once", errors.Join(errors.New("no"), right, right), deploy.Rules{"": {permission("", "nodes", "list")}}, nil, true,
			"ClusterRole: rules: [{apiGroups: [''], resources: [nodes], verbs: [list]}]"},
		{"if nobody answers, the error is as it was", right, nil, errors.New("down"), true, ""},
		{"who may not grant rights doesn't lack the verb", refused("attempting to grant RBAC permissions not currently held"), nil, nil, true, ""},
		{"once is enough", &deploy.MissingRightsError{Rules: secrets, Err: right}, secrets, nil, false,
			"ClusterRole: rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]"},
	} {
		view := &reviewing{missing: row.missing, err: row.failed}
		err := deploy.WithMissingRights(t.Context(), view, row.err, func() []deploy.Right { return []deploy.Right{{Verbs: []string{"get"}}} })
		assert.Equal(t, row.asks, len(view.asked) > 0, row.why)
		missing, ok := errors.AsType[*deploy.MissingRightsError](err)
		if row.want == "" {
			assert.Equal(t, row.err, err, row.why)
			continue
		}
		require.True(t, ok, row.why)
		assert.Equal(t, row.want, missing.Rules.String(), row.why)
		assert.ErrorIs(t, err, right, row.why)
	}
	plain := deploy.WithMissingRights(t.Context(), nil, right, nil)
	assert.Equal(t, right, plain, "a view that knows nothing about rights")
}

func ExampleWithMissingRights() {
	refused := &deploy.ForbiddenError{
		Verb: "create", Resource: schema.GroupResource{Resource: "secrets"}, Namespace: "shop", Err: errors.New(`User "op" cannot create resource "secrets"`),
	}
	view := &reviewing{missing: deploy.Rules{"shop": {{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create", "patch"}}}}}
	err := deploy.WithMissingRights(context.Background(), view, refused, func() []deploy.Right {
		return []deploy.Right{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "shop", Verbs: []string{"create", "patch"}}}
	})
	missing, _ := errors.AsType[*deploy.MissingRightsError](err)
	fmt.Println(missing.Rules)
	// Output: Role in the namespace shop: rules: [{apiGroups: [''], resources: [secrets], verbs: [create, patch]}]
}

func ExampleRightsView() {
	var view deploy.View = &reviewing{missing: deploy.Rules{"": {{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}}}}
	if reviewer, ok := view.(deploy.RightsView); ok {
		missing, err := reviewer.MissingRights(context.Background(), []deploy.Right{{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Verbs: []string{"get"}}})
		fmt.Println(missing, err)
	}
	// Output: ClusterRole: rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}] <nil>
}
