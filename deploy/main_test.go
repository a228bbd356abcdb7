package deploy_test

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secret     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

// settings is a ConfigMap shop/settings with the given data.
func settings(t testing.TB, data string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: "+data)
}

func named(obj *unstructured.Unstructured, name string) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	obj.SetName(name)
	return obj
}

// web is a Deployment shop/web; text is merged into its spec.
func web(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: "+spec)
}

// cart is an owner in the namespace shop.
func cart(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Cart",
		"metadata": map[string]any{"name": name, "namespace": "shop", "uid": name + "-uid"},
	}}
}

var errNo = errors.New("no")

func objects(objs ...*unstructured.Unstructured) []*unstructured.Unstructured { return objs }

// newCluster is a cluster in memory with the given objects, its calls recorded.
func newCluster(t testing.TB, seeds ...*unstructured.Unstructured) *recording {
	t.Helper()
	cluster, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(seeds...))
	require.NoError(t, err)
	return &recording{Cluster: cluster, memory: cluster, shown: newShown(t)}
}

// restarted is a cluster with the objects of another, changed by the given function.
func restarted(t testing.TB, before *recording, change func(obj *unstructured.Unstructured)) *recording {
	t.Helper()
	seeds := before.memory.Objects()
	for _, obj := range seeds {
		change(obj)
	}
	return newCluster(t, seeds...)
}

// apply applies one object, whatever comes of it.
func apply(t testing.TB, m *deploy.Manager, obj *unstructured.Unstructured, options ...deploy.Option) deploy.Result {
	t.Helper()
	results, err := m.Apply(t.Context(), objects(obj), options...)
	require.Len(t, results, 1)
	require.Equal(t, results[0].Err == nil, err == nil)
	return results[0]
}

// must returns a value that can't fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
