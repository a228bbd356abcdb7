package proxy_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

var farms = schema.GroupKind{Group: "proxy.operkit.dev", Kind: "Farm"}

// configMap returns a ConfigMap.
func configMap(name string) *unstructured.Unstructured {
	return object("v1", "ConfigMap", name, map[string]any{"data": map[string]any{"a": "b"}})
}

// A run has the rights of its ServiceAccount on a real API server, and the operator has none but to impersonate.
func TestRights(t *testing.T) {
	t.Parallel()
	p := startPlane(t, rule("", "configmaps", "*"))
	p.create(secretsOfV1, object("v1", "Secret", "hidden", map[string]any{"stringData": map[string]any{"password": "hush"}}))
	p.create(configMapsOfV1, configMap("seen"))
	client := clientOfRun(t, p.issue(p.cat("tom"), configMaps, secrets))
	account := "system:serviceaccount:" + p.Namespace + ":runner"
	t.Run("hooks 40: a run can't read a Secret that its ServiceAccount can't", func(t *testing.T) {
		_, err := client.Resource(secretsOfV1).Namespace(p.Namespace).Get(t.Context(), "hidden", metav1.GetOptions{})
		require.True(t, apierrors.IsForbidden(err), err)
		assert.ErrorContains(t, err, `User "`+account+`" cannot get resource "secrets"`)
		_, err = client.Resource(secretsOfV1).Namespace(p.Namespace).List(t.Context(), metav1.ListOptions{})
		assert.True(t, apierrors.IsForbidden(err), err)
		_, err = client.Resource(secretsOfV1).Namespace(p.Namespace).Create(t.Context(), object("v1", "Secret", "own", nil), metav1.CreateOptions{})
		assert.True(t, apierrors.IsForbidden(err), "a declaration gives no rights: %v", err)
		_, err = client.Resource(configMapsOfV1).Namespace(p.Namespace).Get(t.Context(), "seen", metav1.GetOptions{})
		assert.NoError(t, err)
	})
	t.Run("hooks 40: the API server takes it for the ServiceAccount, with its groups", func(t *testing.T) {
		who := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
		got, err := client.Resource(who).Create(t.Context(), object("authentication.k8s.io/v1", "SelfSubjectReview", "", nil), metav1.CreateOptions{})
		require.NoError(t, err)
		name, _, _ := unstructured.NestedString(got.Object, "status", "userInfo", "username")
		groups, _, _ := unstructured.NestedStringSlice(got.Object, "status", "userInfo", "groups")
		slices.Sort(groups)
		assert.Equal(t, account, name)
		assert.Equal(t, []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + p.Namespace}, groups)
	})
	t.Run("hooks 40: the operator needs no right but to impersonate, and has that for no other one", func(t *testing.T) {
		other, err := p.proxy.Issue(proxy.Grant{Owner: p.cat("kit"), ServiceAccount: types.NamespacedName{Namespace: p.Namespace, Name: "operator"}})
		require.NoError(t, err)
		_, err = clientOfRun(t, other).Resource(configMapsOfV1).Namespace(p.Namespace).Get(t.Context(), "seen", metav1.GetOptions{})
		require.True(t, apierrors.IsForbidden(err), err)
		assert.ErrorContains(t, err, `cannot impersonate resource "serviceaccounts"`)
	})
}

// The end of a run, on a real API server.
func TestEndOfARun(t *testing.T) {
	t.Parallel()
	p := startPlane(t, rule("", "configmaps", "*"))
	access := p.issue(p.cat("tom"), configMaps)
	client := clientOfRun(t, access).Resource(configMapsOfV1).Namespace(p.Namespace)
	watching, err := client.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	created, err := client.Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	for event := range watching.ResultChan() {
		if event.Type == watch.Added && event.Object.(*unstructured.Unstructured).GetName() == "a" {
			break // events come while the watch goes on
		}
	}
	t.Run("hooks 46: a token is worthless after the run, on a connection that is kept alive", func(t *testing.T) {
		access.End()
		_, err := client.Get(t.Context(), "a", metav1.GetOptions{})
		assert.True(t, apierrors.IsUnauthorized(err), err)
		_, err = client.Create(t.Context(), configMap("b"), metav1.CreateOptions{})
		assert.True(t, apierrors.IsUnauthorized(err), err)
	})
	t.Run("hooks 46: a watch under way has ended", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for {
			select {
			case event, open := <-watching.ResultChan():
				if !open {
					return
				}
				assert.Contains(t, []watch.EventType{watch.Added, watch.Error, watch.Bookmark}, event.Type)
			case <-ctx.Done():
				t.Fatal("the watch goes on")
			}
		}
	})
	t.Run("hooks 47: what the run has made is known then", func(t *testing.T) {
		assert.Equal(t, []proxy.Object{{
			Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: p.Namespace, Name: "a",
			UID: created.GetUID(), ResourceVersion: created.GetResourceVersion(),
		}}, access.Written())
	})
}

// grantEverywhere gives the ServiceAccount of the runs rights in the whole cluster, until the test ends.
func (p *plane) grantEverywhere(rules ...rbacv1.PolicyRule) {
	p.t.Helper()
	name := p.Namespace + ":runner"
	put := func(resource string, typed any) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		require.NoError(p.t, err)
		at := p.admin.Resource(rbacv1.SchemeGroupVersion.WithResource(resource))
		_, err = at.Create(p.t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		require.NoError(p.t, err)
		p.t.Cleanup(func() {
			assert.NoError(p.t, at.Delete(context.WithoutCancel(p.t.Context()), name, metav1.DeleteOptions{}))
		})
	}
	put("clusterroles", &rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules,
	})
	put("clusterrolebindings", &rbacv1.ClusterRoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "runner", Namespace: p.Namespace}},
		RoleRef:  rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: name},
	})
	p.awaitRights("runner", "", rules)
}

// Owners of objects on a real API server, which checks references and collects what they lead to.
func TestOwnersOnAPIServer(t *testing.T) {
	t.Parallel()
	p := startPlane(t, rule("", "configmaps", "*"))
	p.grantEverywhere(rule("proxy.operkit.dev", "farms", "*"))
	tom := p.cat("tom")
	farm, err := p.admin.Resource(farmsOfV1).Create(t.Context(), object("proxy.operkit.dev/v1", "Farm", p.Namespace, map[string]any{"spec": map[string]any{}}), metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.admin.Resource(farmsOfV1).Delete(context.WithoutCancel(t.Context()), farm.GetName(), metav1.DeleteOptions{})
	})
	refersTo := func(owner *unstructured.Unstructured) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "proxy.operkit.dev/v1", Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}}
	}
	ofTom := clientOfRun(t, p.issue(tom, configMaps, farms))
	ofFarm := clientOfRun(t, p.issue(farm, configMaps, farms))
	inNamespace := ofTom.Resource(configMapsOfV1).Namespace(p.Namespace)
	t.Run("hooks 45: an owner and an object in the same namespace", func(t *testing.T) {
		got, err := inNamespace.Create(t.Context(), configMap("created"), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, refersTo(tom), got.GetOwnerReferences())
		generated := configMap("")
		generated.SetGenerateName("generated-")
		got, err = inNamespace.Create(t.Context(), generated, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err)
		assert.Equal(t, refersTo(tom), got.GetOwnerReferences())
	})
	t.Run("hooks 45: an apply keeps the owner, and changes nothing when it is repeated", func(t *testing.T) {
		var version string
		for range 3 {
			got, err := inNamespace.Apply(t.Context(), "applied", configMap("applied"), metav1.ApplyOptions{FieldManager: "run"})
			require.NoError(t, err)
			assert.Equal(t, refersTo(tom), got.GetOwnerReferences())
			if version == "" {
				version = got.GetResourceVersion()
			}
			assert.Equal(t, version, got.GetResourceVersion())
		}
		live, err := inNamespace.Get(t.Context(), "applied", metav1.GetOptions{})
		require.NoError(t, err)
		live.SetOwnerReferences(nil)
		got, err := inNamespace.Update(t.Context(), live, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, refersTo(tom), got.GetOwnerReferences())
	})
	t.Run("hooks 45: an object of somebody else isn't taken over", func(t *testing.T) {
		p.create(configMapsOfV1, configMap("foreign"))
		got, err := inNamespace.Apply(t.Context(), "foreign", configMap("foreign"), metav1.ApplyOptions{FieldManager: "run"})
		require.NoError(t, err)
		assert.Empty(t, got.GetOwnerReferences())
	})
	t.Run("hooks 45: an owner in a namespace and an object in none", func(t *testing.T) {
		name := p.Namespace + "-2"
		got, err := ofTom.Resource(farmsOfV1).Create(t.Context(), object("proxy.operkit.dev/v1", "Farm", name, nil), metav1.CreateOptions{})
		require.NoError(t, err)
		t.Cleanup(func() {
			_ = p.admin.Resource(farmsOfV1).Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{})
		})
		assert.Empty(t, got.GetOwnerReferences())
		assert.Equal(t, map[string]string{"operator-sdk/primary-resource": p.Namespace + "/tom", "operator-sdk/primary-resource-type": "Cat.proxy.operkit.dev"}, got.GetAnnotations())
	})
	t.Run("hooks 45: an owner in no namespace", func(t *testing.T) {
		got, err := ofFarm.Resource(configMapsOfV1).Namespace(p.Namespace).Create(t.Context(), configMap("of-farm"), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, refersTo(farm), got.GetOwnerReferences())
		got, err = ofFarm.Resource(farmsOfV1).Create(t.Context(), object("proxy.operkit.dev/v1", "Farm", p.Namespace+"-3", nil), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, refersTo(farm), got.GetOwnerReferences())
	})
	t.Run("hooks 45: what a run has made goes with its owner", func(t *testing.T) {
		require.NoError(t, p.admin.Resource(catsOfV1).Namespace(p.Namespace).Delete(t.Context(), "tom", metav1.DeleteOptions{}))
		require.NoError(t, p.admin.Resource(farmsOfV1).Delete(t.Context(), farm.GetName(), metav1.DeleteOptions{}))
		require.Eventually(t, func() bool {
			list, err := p.admin.Resource(configMapsOfV1).Namespace(p.Namespace).List(t.Context(), metav1.ListOptions{})
			var left []string
			for _, one := range list.Items {
				if one.GetName() != "kube-root-ca.crt" {
					left = append(left, one.GetName())
				}
			}
			_, gone := p.admin.Resource(farmsOfV1).Get(t.Context(), p.Namespace+"-3", metav1.GetOptions{})
			return err == nil && slices.Equal(left, []string{"foreign"}) && apierrors.IsNotFound(gone)
		}, 2*time.Minute, 20*time.Millisecond)
	})
}

// The owner and its status, on a real API server.
func TestOwnStatus(t *testing.T) {
	t.Parallel()
	p := startPlane(t, rule("proxy.operkit.dev", "cats", "get", "patch", "update"), rule("proxy.operkit.dev", "cats/status", "patch"))
	tom, _ := p.cat("tom"), p.cat("kit")
	client := clientOfRun(t, p.issue(tom)).Resource(catsOfV1).Namespace(p.Namespace)
	t.Run("hooks 44: a run patches the status of its owner, and of no other one", func(t *testing.T) {
		patch := []byte(`{"status":{"cats":3}}`)
		got, err := client.Patch(t.Context(), "tom", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"cats": int64(3)}, got.Object["status"])
		_, err = client.Patch(t.Context(), "kit", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		require.True(t, apierrors.IsForbidden(err), err)
		assert.ErrorContains(t, err, "add {apiVersion: proxy.operkit.dev/v1, kind: Cat} to manages in watches.yaml")
		got, err = client.Apply(t.Context(), "tom", object("proxy.operkit.dev/v1", "Cat", "tom", map[string]any{"spec": map[string]any{"size": int64(1)}}), metav1.ApplyOptions{FieldManager: "run"})
		require.NoError(t, err)
		assert.Empty(t, got.GetOwnerReferences(), "it doesn't own itself")
	})
	t.Run("hooks 53: a run writes no other resource of the name of its owner, and doesn't create it anew", func(t *testing.T) {
		admin := p.admin.Resource(catsOfV1).Namespace(p.Namespace)
		write := map[string]func() error{
			"merge": func() error {
				_, err := client.Patch(t.Context(), "tom", types.MergePatchType, []byte(`{"status":{"cats":4}}`), metav1.PatchOptions{}, "status")
				return err
			},
			"apply of the status": func() error {
				_, err := client.ApplyStatus(t.Context(), "tom", object("proxy.operkit.dev/v1", "Cat", "tom", map[string]any{"status": map[string]any{"dogs": int64(1)}}), metav1.ApplyOptions{FieldManager: "run"})
				return err
			},
			"merge of the whole": func() error {
				_, err := client.Patch(t.Context(), "tom", types.MergePatchType, []byte(`{"spec":{"size":7}}`), metav1.PatchOptions{})
				return err
			},
			"operations": func() error {
				_, err := client.Patch(t.Context(), "tom", types.JSONPatchType, []byte(`[{"op":"add","path":"/status","value":{"cats":4}}]`), metav1.PatchOptions{}, "status")
				return err
			},
			"apply": func() error {
				_, err := client.Apply(t.Context(), "tom", object("proxy.operkit.dev/v1", "Cat", "tom", map[string]any{"spec": map[string]any{}}), metav1.ApplyOptions{FieldManager: "run", Force: true})
				return err
			},
			"update": func() error {
				_, err := client.Update(t.Context(), object("proxy.operkit.dev/v1", "Cat", "tom", map[string]any{"spec": map[string]any{}}), metav1.UpdateOptions{})
				return err
			},
		}
		for _, name := range []string{"operations", "merge", "merge of the whole", "apply", "apply of the status"} {
			require.NoError(t, write[name](), name)
		}
		require.NoError(t, admin.Delete(t.Context(), "tom", metav1.DeleteOptions{}))
		for name, do := range write {
			assert.Error(t, do(), name)
		}
		_, err := admin.Get(t.Context(), "tom", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), err)
		other := p.cat("tom")
		for name, do := range write {
			assert.Error(t, do(), name)
		}
		live, err := admin.Get(t.Context(), "tom", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, other.GetResourceVersion(), live.GetResourceVersion())
	})
}
