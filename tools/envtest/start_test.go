package envtest_test

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

func TestStartGivesEachTestItsOwn(t *testing.T) {
	t.Parallel()
	outer := envtest.Start(t)
	admin := client(t, outer.Admin)
	cluster, err := devcluster.Open(outer.Dir, nil)
	require.NoError(t, err)
	state, err := cluster.State()
	require.NoError(t, err)
	var mu sync.Mutex
	seen := map[string]*envtest.Env{}
	t.Run("tests", func(t *testing.T) {
		for _, name := range []string{"one", "two", "Drei & a very long name that no namespace could have, however hard it tries"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				env := envtest.Start(t)
				mu.Lock()
				seen[env.Namespace] = env
				mu.Unlock()
				assert.Empty(t, validation.IsDNS1123Label(env.Namespace), "good for a namespace and a label: %s", env.Namespace)
				assert.True(t, strings.HasPrefix(env.Namespace, "teststartgiveseachtestitsown-tests-"), "reads like the test's name: %s", env.Namespace)
				require.NoError(t, createConfigMap(t, env.Config, env.Namespace, "same-name-in-each"))
			})
		}
	})
	require.Len(t, seen, 3, "three namespaces")
	users := map[string]bool{}
	for namespace, env := range seen {
		users[env.Self.Name] = true
		for other := range seen {
			if other != namespace {
				assert.True(t, apierrors.IsForbidden(createConfigMap(t, env.Config, other, "x")), "%s writes into %s", env.Self.Name, other)
			}
		}
	}
	assert.Len(t, users, 3, "three users")
	for namespace := range seen {
		live, err := admin.Resource(namespaces).Get(t.Context(), namespace, metav1.GetOptions{})
		if state.Temporary {
			require.NoError(t, err)
			assert.Nil(t, live.GetDeletionTimestamp(), "%s ends with the cluster", namespace)
			continue
		}
		assert.True(t, apierrors.IsNotFound(err) || live.GetDeletionTimestamp() != nil || live.GetLabels()["operkit.dev/test-ended"] != "",
			"%s is deleted with its test, or after others: %v", namespace, err)
	}
}

func TestStartsNamespaceTakesPodsAtOnce(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	t.Logf("cluster=%s namespace=%s", env.Dir, env.Namespace) // which a process test reads
	pod := configMap("pod")
	pod.SetKind("Pod")
	pod.Object["spec"] = map[string]any{"containers": []any{map[string]any{"name": "c", "image": "example.invalid/none"}}}
	pods := client(t, env.Config).Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(env.Namespace)
	_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		live, err := pods.Get(t.Context(), "pod", metav1.GetOptions{})
		if err != nil {
			return false
		}
		status, _ := live.Object["status"].(map[string]any)
		return status["phase"] == "Running"
	}, 30*time.Second, 5*time.Millisecond, "a node takes it")
}

func TestRightsAreExactlyThoseGranted(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	get := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}
	tests := map[string]struct {
		grants []envtest.Grant
		// what the user may do: get a ConfigMap of the namespace, create one, get one of another namespace
		get, create, elsewhere bool
	}{
		"none":         {},
		"in-namespace": {grants: []envtest.Grant{envtest.InNamespace(get)}, get: true},
		"cluster-wide": {grants: []envtest.Grant{envtest.ClusterWide(get)}, get: true, elsewhere: true},
		"everything":   {grants: []envtest.Grant{envtest.EverythingInNamespace()}, get: true, create: true},
		"role-files":   {grants: []envtest.Grant{envtest.RolesIn("testdata/roles")}, get: true, create: true, elsewhere: true},
		"path": {grants: []envtest.Grant{envtest.ClusterWide(rbacv1.PolicyRule{
			Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics*"},
		})}},
		"one-object": {grants: []envtest.Grant{envtest.InNamespace(rbacv1.PolicyRule{
			Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"kube-root-ca.crt"},
		})}, get: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := env.User(t, name, test.grants...)
			// No waiting and no second try: the rights hold when User returns.
			_, err := client(t, user.Config).Resource(configMaps).Namespace(env.Namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
			assertAllowed(t, test.get, err, "get")
			assertAllowed(t, test.create, createConfigMap(t, user.Config, env.Namespace, name), "create")
			_, err = client(t, user.Config).Resource(configMaps).Namespace("kube-system").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
			assertAllowed(t, test.elsewhere, err, "get elsewhere")
			raw := rawClient(t, user.Config)
			require.NoError(t, raw.Get().AbsPath("/apis/apps/v1").Do(t.Context()).Error(), "discovery is everyone's")
			assertAllowed(t, name == "path", raw.Get().AbsPath("/metrics").Do(t.Context()).Error(), "path")
		})
	}
}

// assertAllowed asserts an answer other than 'forbidden', or just that one. An object that isn't there is an answer.
func assertAllowed(t *testing.T, allowed bool, err error, what string) {
	t.Helper()
	if allowed {
		assert.False(t, apierrors.IsForbidden(err), "%s: %v", what, err)
	} else {
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
	}
}

func rawClient(t *testing.T, config *rest.Config) *rest.RESTClient {
	t.Helper()
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = dynamic.ConfigFor(config).NegotiatedSerializer
	raw, err := rest.UnversionedRESTClientFor(config)
	require.NoError(t, err)
	return raw
}

func TestRightsOptionReplacesTheDefault(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.Rights(envtest.InNamespace(rbacv1.PolicyRule{
		Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"},
	})))
	err := createConfigMap(t, env.Config, env.Namespace, "x")
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, `User "`+env.Self.Name+`" cannot create resource "configmaps"`)
}

func TestUserRefusesBadInput(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	env.User(t, "operator", envtest.EverythingInNamespace())
	tests := map[string]struct {
		name  string
		grant envtest.Grant
		want  string
	}{
		"twice":        {"operator", envtest.EverythingInNamespace(), "the test has a user " + env.Namespace + ":operator already"},
		"no role file": {"other", envtest.RolesIn("testdata/absent"), "user other: roles: stat testdata/absent: no such file"},
		"no name":      {"a/b", envtest.EverythingInNamespace(), `Role ` + env.Namespace + `:a/b: `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := fatal(t, func(t testing.TB) { env.User(t, test.name, test.grant) })
			assert.Contains(t, message, test.want)
		})
	}
}

func TestKubeconfigMakesAProgramThatUser(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	user := env.User(t, "operator", envtest.EverythingInNamespace())
	path := env.Kubeconfig(t, user)

	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode(), "for its owner only")
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, &clientcmd.ConfigOverrides{})
	namespace, _, err := loaded.Namespace()
	require.NoError(t, err)
	assert.Equal(t, env.Namespace, namespace)
	config, err := loaded.ClientConfig()
	require.NoError(t, err)
	require.NoError(t, createConfigMap(t, config, env.Namespace, "by-operator"))
	assert.True(t, apierrors.IsForbidden(createConfigMap(t, config, "default", "by-operator")))
	assert.Equal(t, map[string]int{"create configmaps": 2}, env.Calls(t, user).Count(), "the audit log knows it by that name")
}
