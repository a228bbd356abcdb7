package cluster_test

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Whoever refuses what is written, and with whatever code: the content is at fault, unless a right or room is missing.
func TestRefusedContent(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	admin := must(deploy.NewManager(newCluster(t, env.Admin)))
	for _, text := range []string{
		"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " + env.Namespace + "}, provisioner: example.dev/none}",
	} {
		apply(t, admin, object(t, "", text))
	}
	for _, text := range []string{
		"{apiVersion: v1, kind: LimitRange, metadata: {name: small}, spec: {limits: [{type: Container, max: {cpu: '1'}, default: {cpu: '1'}}]}}",
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {count/secrets: '0'}}}",
	} {
		apply(t, admin, object(t, env.Namespace, text))
		awaitQuota(t, env, text)
	}
	refusing(t, env, "Forbidden")
	refusing(t, env, "Invalid")
	claim := func(size string) *unstructured.Unstructured {
		return object(t, env.Namespace, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: "+env.Namespace+
			", accessModes: [ReadWriteOnce], resources: {requests: {storage: "+size+"}}}}")
	}
	made := apply(t, admin, claim("1Gi"))
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	claims := client.Resource(made.Ref.Kind.GroupVersion().WithResource("persistentvolumeclaims")).Namespace(env.Namespace)
	bound := []byte(`{"status": {"phase": "Bound"}}`)
	_, err = claims.Patch(t.Context(), "data", types.MergePatchType, bound, metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	user := env.User(t, "limited", envtest.InNamespace(rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch", "create", "update", "patch"}, APIGroups: []string{"", "rbac.authorization.k8s.io"},
		Resources: []string{"pods", "configmaps", "secrets", "persistentvolumeclaims", "roles"}}))
	m := must(deploy.NewManager(newCluster(t, user.Config)))
	for name, row := range map[string]struct {
		obj     *unstructured.Unstructured
		content bool
		says    string
	}{
		"a class refuses a claim's growth": {claim("2Gi"), true, "must support resize"},
		"a policy forbids":                 {object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {refuse: Forbidden}}}"), true, "aren't wanted"},
		"a policy calls it invalid":        {object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {refuse: Invalid}}}"), true, "aren't wanted"},
		"a limit": {object(t, env.Namespace, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a, resources: {requests: {cpu: '2'}, limits: {cpu: '2'}}}]}}"),
			true, "maximum cpu usage per Container"},
		"a quota is used up": {object(t, env.Namespace, "{apiVersion: v1, kind: Secret, metadata: {name: a}}"), false, "exceeded quota"},
		"a right is missing": {object(t, env.Namespace, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1}]}}"), false, "grant it by RBAC"},
		"a right that is to be granted is missing": {object(t, env.Namespace, "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]}"),
			false, "grant it by RBAC"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Apply(t.Context(), []*unstructured.Unstructured{row.obj}, deploy.RetryFor(0))
			require.ErrorContains(t, err, row.says)
			var forbidden *deploy.ForbiddenError
			var invalid *deploy.InvalidError
			if errors.As(err, &forbidden) {
				assert.Equal(t, row.content, forbidden.Content)
				return
			}
			require.ErrorAs(t, err, &invalid)
			assert.True(t, row.content)
		})
	}
}
