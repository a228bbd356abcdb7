package cluster_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMissingRights(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	user := env.User(t, "few", envtest.InNamespace(
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"}},
		rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"*"}},
	))
	verbs := []string{"get", "list", "create"}
	deployment := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	wanted := []deploy.Right{
		{Kind: configMap, Verbs: verbs}, {Kind: configMap, Namespace: env.Namespace, Verbs: verbs},
		{Kind: deployment, Verbs: verbs}, {Kind: deployment, Subresource: "status", Verbs: []string{"patch"}},
		{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Verbs: []string{"get"}},
		{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Nothing"}, Verbs: verbs},
	}
	missing := func(t *testing.T, options ...cluster.Option) (deploy.Rules, int) {
		view := newCluster(t, user.Config, options...).View().(deploy.RightsView)
		mark := env.Mark(t)
		rules, err := view.MissingRights(t.Context(), wanted)
		require.NoError(t, err)
		asked := len(env.CallsSince(t, mark, user).Of("selfsubjectaccessreviews.authorization.k8s.io"))
		again, err := view.MissingRights(t.Context(), slices.Concat(wanted, wanted))
		require.NoError(t, err)
		assert.Equal(t, rules, again)
		calls := env.CallsSince(t, mark, user).Of("selfsubjectaccessreviews.authorization.k8s.io")
		assert.Len(t, calls, asked, "rights 3: an answer is reused for a minute: %s", calls)
		return rules, asked
	}
	t.Run("rights 4: objects with names", func(t *testing.T) {
		one := env.User(t, "one", envtest.InNamespace(rbacv1.PolicyRule{
			APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"mine"}, Verbs: []string{"impersonate"},
		}))
		view := newCluster(t, one.Config, cluster.Namespaces(env.Namespace)).View().(deploy.RightsView)
		account := schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
		rules, err := view.MissingRights(t.Context(), []deploy.Right{{
			Kind: account, Namespace: env.Namespace, Names: []string{"mine", "other", "another"}, Verbs: []string{"impersonate"},
		}})
		require.NoError(t, err)
		assert.Equal(t, "Role in the namespace "+env.Namespace+": rules: [{apiGroups: [''], resources: [serviceaccounts], resourceNames: [another, other], verbs: [impersonate]}]",
			rules.String())
	})
	t.Run("rights 2, 3: in the watched namespaces, with one request for each verb", func(t *testing.T) {
		rules, asked := missing(t, cluster.Namespaces(env.Namespace))
		assert.Equal(t, fmt.Sprintf("ClusterRole: rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]; "+
			"Role in the namespace %s: rules: [{apiGroups: [''], resources: [configmaps], verbs: [create]}, "+
			"{apiGroups: [apps], resources: [deployments/status], verbs: [patch]}]", env.Namespace), rules.String())
		assert.Equal(t, 3+3+1+1, asked)
	})
	t.Run("rights 2: in all namespaces, by a ClusterRole", func(t *testing.T) {
		rules, _ := missing(t)
		assert.Equal(t, "ClusterRole: rules: [{apiGroups: [''], resources: [configmaps], verbs: [get, list, create]}, "+
			"{apiGroups: [''], resources: [nodes], verbs: [get]}, {apiGroups: [apps], resources: [deployments], verbs: [get, list, create]}, "+
			"{apiGroups: [apps], resources: [deployments/status], verbs: [patch]}]", rules.String())
	})
}
