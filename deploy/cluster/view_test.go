package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

func TestReadsFollowOwnWrites(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	m := must(deploy.NewManager(c))
	ref := deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "settings"}
	mark := env.Mark(t)
	for i := range 200 {
		result := apply(t, m, object(t, env.Namespace, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '%d'}}", i)))
		require.True(t, result.Changed(), "write %d", i)
		live, err := c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		sameState(t, result.Object, live)
		listed, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
		require.NoError(t, err)
		found := false
		for _, obj := range listed {
			if obj.GetName() == "settings" {
				found = true
				require.Equal(t, result.Object.GetResourceVersion(), obj.GetResourceVersion(), "list %d", i)
			}
		}
		require.True(t, found, "list %d", i)
		if i%10 == 9 {
			require.NoError(t, c.Port().Delete(t.Context(), ref, deploy.DeleteOptions{UID: live.GetUID()}))
			live, err = c.View().Get(t.Context(), ref)
			require.NoError(t, err)
			require.Nil(t, live, "delete %d isn't seen", i)
		}
	}
	assert.Empty(t, env.CallsSince(t, mark).Reads(), "no read of a watched kind is a call")
}

func TestReadsOfSelectorsFollowOwnWrites(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	m := must(deploy.NewManager(c))
	blue, err := labels.Parse("color=blue")
	require.NoError(t, err)
	for i := range 40 {
		color := []string{"blue", "red"}[i%2]
		apply(t, m, object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {color: "+color+"}}}"))
		listed, err := c.View().List(t.Context(), configMap, env.Namespace, blue)
		require.NoError(t, err)
		require.Len(t, listed, 1-i%2, "round %d: selectors come after the overlay", i)
	}
}

// Somebody else's writes come through the watch, in the presence of our own.
func TestReadsFollowOthersToo(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	m := must(deploy.NewManager(c))
	client := others(t, env, configMap)
	intent := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1'}}")
	ref := deploy.RefOf(intent)
	for range 20 {
		apply(t, m, intent)
		require.NoError(t, client.Delete(t.Context(), "settings", metav1.DeleteOptions{}))
		require.Eventually(t, func() bool {
			live, err := c.View().Get(t.Context(), ref)
			return err == nil && live == nil
		}, patience, time.Millisecond, "the overlay keeps what is gone")
	}
}

func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	m := must(deploy.NewManager(c))
	var running sync.WaitGroup
	for w := range 8 {
		running.Go(func() {
			for i := range 20 {
				obj := object(t, env.Namespace, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: w%d}, data: {a: '%d'}}", w, i))
				result := apply(t, m, obj)
				live, err := c.View().Get(t.Context(), result.Ref)
				assert.NoError(t, err)
				assert.Equal(t, result.Object.GetResourceVersion(), live.GetResourceVersion())
			}
		})
	}
	running.Wait()
}

func TestEvents(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	m := must(deploy.NewManager(c))
	named := func(name string) string { return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}" }
	apply(t, m, object(t, env.Namespace, named("before")))
	events := make(chan deploy.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	subscription, err := c.View().Subscribe(ctx, configMap, func(event deploy.Event) {
		if event.New.GetName() != "kube-root-ca.crt" {
			events <- event
		}
	})
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	next := func() deploy.Event {
		select {
		case event := <-events:
			return event
		case <-time.After(patience):
			t.Fatal("no event")
			return deploy.Event{}
		}
	}
	event := next()
	assert.Equal(t, deploy.Added, event.Type)
	assert.Equal(t, "before", event.New.GetName())
	assert.Equal(t, configMap, event.New.GroupVersionKind())

	apply(t, m, object(t, env.Namespace, named("after")))
	event = next()
	assert.Equal(t, deploy.Added, event.Type)
	assert.Nil(t, event.Old)
	edit(t, others(t, env, configMap), "after", `{"data":{"a":"1"}}`)
	event = next()
	assert.Equal(t, deploy.Modified, event.Type)
	assert.NotEqual(t, event.Old.GetResourceVersion(), event.New.GetResourceVersion())
	_, err = m.Delete(t.Context(), []*unstructured.Unstructured{object(t, env.Namespace, named("after"))})
	require.NoError(t, err)
	event = next()
	assert.Equal(t, deploy.Deleted, event.Type)
	assert.Equal(t, event.Old, event.New)

	cancel()
	apply(t, m, object(t, env.Namespace, named("late")))
	eventually(t, c, deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "late"}, func(obj *unstructured.Unstructured) bool { return obj != nil })
	assert.Empty(t, events, "a subscription ends with its context")
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.InNamespace(
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}})))
	settings := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
	configMaps := schema.GroupResource{Resource: "configmaps"}
	for name, test := range map[string]struct {
		options   []cluster.Option
		namespace string
	}{
		"in-namespace": {[]cluster.Option{cluster.Namespaces(env.Namespace)}, env.Namespace},
		"in-all":       {nil, ""},
	} {
		t.Run(name+"/a watch", func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, env.Config, test.options...)
			subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
			require.NoError(t, err)
			err = subscription.Synced(t.Context())
			var forbidden *deploy.ForbiddenError
			require.ErrorAs(t, err, &forbidden)
			assert.Equal(t, "list and watch", forbidden.Verb)
			assert.Equal(t, configMaps, forbidden.Resource)
			assert.Equal(t, test.namespace, forbidden.Namespace)
			_, err = c.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: env.Namespace, Name: "settings"})
			require.ErrorAs(t, err, &forbidden)
			_, err = c.View().List(t.Context(), configMap, env.Namespace, nil)
			require.ErrorAs(t, err, &forbidden)
		})
	}
	t.Run("an apply", func(t *testing.T) {
		t.Parallel()
		m := must(deploy.NewManager(newCluster(t, env.Config)))
		results, err := m.Apply(t.Context(), []*unstructured.Unstructured{settings})
		var forbidden *deploy.ForbiddenError
		require.ErrorAs(t, err, &forbidden)
		assert.Equal(t, deploy.Failed, results[0].Action)
		assert.Equal(t, deploy.ForbiddenError{Verb: "patch", Resource: configMaps, Namespace: env.Namespace, Name: "settings", Err: forbidden.Err}, *forbidden)
	})
	t.Run("a subscription heals", func(t *testing.T) {
		t.Parallel()
		user := env.User(t, "late")
		c := newCluster(t, user.Config, cluster.Namespaces(env.Namespace))
		subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
		require.NoError(t, err)
		var forbidden *deploy.ForbiddenError
		require.ErrorAs(t, subscription.Synced(t.Context()), &forbidden)
		bindings, err := dynamic.NewForConfig(env.Admin)
		require.NoError(t, err)
		binding := object(t, env.Namespace, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: late}}")
		binding.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
		binding.Object["subjects"] = []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.Name}}
		_, err = bindings.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}).
			Namespace(env.Namespace).Create(t.Context(), binding, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return subscription.Synced(t.Context()) == nil }, patience, 10*time.Millisecond)
	})
}

func TestKinds(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Config)
	late := schema.GroupVersionKind{Group: env.Namespace + ".operkit.dev", Version: "v1", Kind: "Late"}
	for name, kind := range map[string]schema.GroupVersionKind{
		"a group that isn't there":         {Group: "nowhere.operkit.dev", Version: "v1", Kind: "Nothing"},
		"a version that isn't there":       {Group: "apps", Version: "v7", Kind: "Deployment"},
		"a kind that isn't there":          {Group: "apps", Version: "v1", Kind: "Deploiment"},
		"a core kind that isn't there":     {Version: "v1", Kind: "Nothing"},
		"one whose definition comes later": late,
	} {
		var unknown *deploy.KindUnknownError
		_, err := c.Port().Scope(t.Context(), kind)
		require.ErrorAs(t, err, &unknown, name)
		assert.Equal(t, kind, unknown.Kind)
		_, err = c.View().Get(t.Context(), deploy.Ref{Kind: kind, Namespace: env.Namespace, Name: "x"})
		require.ErrorAs(t, err, &unknown, name)
		_, err = c.View().List(t.Context(), kind, "", nil)
		require.ErrorAs(t, err, &unknown, name)
		_, err = c.View().Subscribe(t.Context(), kind, func(deploy.Event) {})
		require.ErrorAs(t, err, &unknown, name)
		_, err = c.Port().Get(t.Context(), deploy.Ref{Kind: kind, Namespace: env.Namespace, Name: "x"})
		require.ErrorAs(t, err, &unknown, name)
	}
	installLate(t, env, late.Group)
	scope, err := c.Port().Scope(t.Context(), late)
	require.NoError(t, err, "a kind becomes known without a restart")
	assert.Equal(t, deploy.Namespaced, scope)
	m := must(deploy.NewManager(newCluster(t, env.Config, cluster.Namespaces(env.Namespace))))
	created := apply(t, m, object(t, env.Namespace, "{apiVersion: "+late.Group+"/v1, kind: Late, metadata: {name: x}}"))
	assert.Equal(t, deploy.Created, created.Action)

	t.Run("deploy W1: the scope comes from discovery", func(t *testing.T) {
		for kind, want := range map[schema.GroupVersionKind]deploy.Scope{
			configMap:                          deploy.Namespaced,
			deployment:                         deploy.Namespaced,
			{Version: "v1", Kind: "Node"}:      deploy.ClusterScoped,
			{Version: "v1", Kind: "Namespace"}: deploy.ClusterScoped,
		} {
			scope, err := c.Port().Scope(t.Context(), kind)
			require.NoError(t, err)
			assert.Equal(t, want, scope, kind)
		}
	})
	t.Run("discovery is asked once for a group and version", func(t *testing.T) {
		mark := env.Mark(t)
		for range 3 {
			_, err := c.Port().Scope(t.Context(), service)
			require.NoError(t, err)
		}
		assert.Empty(t, env.CallsSince(t, mark))
	})
}

// installLate installs a definition that no other test knows.
func installLate(t *testing.T, env *envtest.Env, group string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "late.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lates.%[1]s}
spec:
  group: %[1]s
  names: {kind: Late, listKind: LateList, plural: lates, singular: late}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`, group)), 0o600))
	env.InstallCRDs(t, file)
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	t.Cleanup(func() {
		definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
		assert.NoError(t, client.Resource(definitions).Delete(context.WithoutCancel(t.Context()), "lates."+group, metav1.DeleteOptions{}))
	})
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	env, other := envtest.Start(t), envtest.Start(t)
	for _, e := range []*envtest.Env{env, other} {
		apply(t, must(deploy.NewManager(newCluster(t, e.Config))), object(t, e.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {test: namespaces-"+env.Namespace[len(env.Namespace)-8:]+"}}}"))
	}
	selector := labels.SelectorFromSet(labels.Set{"test": "namespaces-" + env.Namespace[len(env.Namespace)-8:]})
	names := func(c *cluster.Cluster, namespace string) (names []string) {
		objects, err := c.View().List(t.Context(), configMap, namespace, selector)
		require.NoError(t, err)
		for _, obj := range objects {
			names = append(names, obj.GetNamespace())
		}
		return names
	}
	both := []string{env.Namespace, other.Namespace}
	if both[0] > both[1] {
		both[0], both[1] = both[1], both[0]
	}
	all := newCluster(t, env.Admin)
	one := newCluster(t, env.Admin, cluster.Namespaces(env.Namespace))
	two := newCluster(t, env.Admin, cluster.Namespaces(env.Namespace, other.Namespace))
	assert.Equal(t, both, names(all, ""), "deploy W21: no namespace means all of them, ascending")
	watch(t, all, configMap)
	watch(t, one, configMap)
	watch(t, two, configMap)
	assert.Equal(t, both, names(all, ""))
	assert.Equal(t, []string{other.Namespace}, names(all, other.Namespace))
	assert.Equal(t, []string{env.Namespace}, names(one, env.Namespace))
	assert.Equal(t, []string{other.Namespace}, names(two, other.Namespace))
	assert.Equal(t, both, names(two, ""))
	outside, err := one.View().Get(t.Context(), deploy.Ref{Kind: configMap, Namespace: other.Namespace, Name: "settings"})
	require.NoError(t, err)
	assert.NotNil(t, outside, "reads of other namespaces are live")
	assert.Equal(t, []string{other.Namespace}, names(one, other.Namespace))
}

func TestSyncedEnds(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights())
	c := newCluster(t, env.Config, cluster.Namespaces(env.Namespace))
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	require.ErrorIs(t, subscription.Synced(ctx), enough)
}
