package envtest_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/tools/envtest"
)

var (
	widgets = schema.GroupVersionResource{Group: "envtest.operkit.dev", Version: "v1", Resource: "widgets"}
	crds    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "envtest.operkit.dev/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"size": int64(1)},
	}}
}

// collected is how long a garbage collector takes that knows a kind, on a busy machine too. One that doesn't takes half
// a minute.
const collected = 15 * time.Second

// collectsWithin deletes a widget that owns a ConfigMap and tells how long the ConfigMap outlived it.
func collectsWithin(t *testing.T, config *rest.Config, namespace string) time.Duration {
	t.Helper()
	ctx, dynamic := t.Context(), client(t, config)
	owner, err := dynamic.Resource(widgets).Namespace(namespace).Create(ctx, widget("owner"), metav1.CreateOptions{})
	require.NoError(t, err)
	child := configMap("child")
	child.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
	}})
	_, err = dynamic.Resource(configMaps).Namespace(namespace).Create(ctx, child, metav1.CreateOptions{})
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, dynamic.Resource(widgets).Namespace(namespace).Delete(ctx, "owner", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		_, err := dynamic.Resource(configMaps).Namespace(namespace).Get(ctx, "child", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, time.Minute, 2*time.Millisecond)
	return time.Since(began)
}

func TestInstallCRDsMakesGarbageCollectionWork(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster())
	before := controllerManager(t, env)
	env.InstallCRDs(t, "testdata/crds") // new to a cluster that runs: the case that takes half a minute otherwise
	assert.NotEqual(t, before, controllerManager(t, env), "the controller manager is restarted, so that it needn't be waited for")
	assert.Less(t, collectsWithin(t, env.Config, env.Namespace), collected)
	assert.Empty(t, orphans(t, env), "what it tried garbage collection with is gone")
}

func orphans(t *testing.T, env *envtest.Env) []string {
	t.Helper()
	list, err := client(t, env.Admin).Resource(configMaps).Namespace(env.Namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, item := range list.Items {
		if item.GetName() != "kube-root-ca.crt" {
			names = append(names, item.GetName())
		}
	}
	return names
}

func TestInstallCRDsOnASharedCluster(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata/crds"))
	assert.Less(t, collectsWithin(t, env.Config, env.Namespace), collected)
}

func TestInstallCRDsOfWhatIsThereDoesNothing(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster(), envtest.CRDs("testdata/crds"))
	assert.Less(t, collectsWithin(t, env.Config, env.Namespace), collected)
	before := controllerManager(t, env)
	definition, err := client(t, env.Admin).Resource(crds).Get(t.Context(), "widgets.envtest.operkit.dev", metav1.GetOptions{})
	require.NoError(t, err)

	env.InstallCRDs(t, "testdata/crds/widgets.yaml")
	assert.Equal(t, before, controllerManager(t, env), "the controller manager was left alone")
	again, err := client(t, env.Admin).Resource(crds).Get(t.Context(), "widgets.envtest.operkit.dev", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, definition.GetResourceVersion(), again.GetResourceVersion())

	// A changed one is applied.
	env.InstallCRDs(t, "testdata/changed")
	_, err = client(t, env.Config).Resource(widgets).Namespace(env.Namespace).Create(t.Context(), widget("small"), metav1.CreateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "the new schema wants a bigger size: %v", err)
}

func TestInstallCRDsOfWhatSomeoneInstalledJustNow(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster())
	text, err := os.ReadFile("testdata/crds/widgets.yaml")
	require.NoError(t, err)
	definition := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &definition.Object))
	_, err = client(t, env.Admin).Resource(crds).Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)

	env.InstallCRDs(t, "testdata/crds") // nothing is new, yet the garbage collector doesn't know it
	assert.Less(t, collectsWithin(t, env.Config, env.Namespace), collected)
	assert.Empty(t, orphans(t, env))
}

func TestInstallCRDsRefusesBadInput(t *testing.T) {
	tests := map[string]struct{ path, want string }{
		"no such path":    {"testdata/absent", "CRDs: stat testdata/absent: no such file or directory"},
		"no definition":   {"testdata/roles", "CRDs: testdata/roles holds no CustomResourceDefinition"},
		"not YAML":        {"testdata/bad/not.yaml", "CRDs: testdata/bad/not.yaml: document 1: "},
		"old API version": {"testdata/bad/old.yaml", `CRDs: testdata/bad/old.yaml: apiVersion "apiextensions.k8s.io/v1beta1" isn't served`},
		"twice":           {"testdata/bad/twice.yaml", "CRDs: twice.envtest.operkit.dev is in testdata/bad/twice.yaml and in testdata/bad/twice.yaml"},
		"without a name":  {"testdata/bad/nameless.yaml", "CRDs: testdata/bad/nameless.yaml: a definition has no metadata.name"},
		"refused by the API server": {"testdata/bad/refused.yaml",
			"CRD wrong.envtest.operkit.dev of testdata/bad/refused.yaml: "},
	}
	env := envtest.Start(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			message := fatal(t, func(t testing.TB) { env.InstallCRDs(t, test.path) })
			assert.Contains(t, message, test.want)
		})
	}
}
