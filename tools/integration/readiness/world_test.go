package readiness

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/integration/internal/kubectl"
)

// patience is how long one story may take. The slowest controllers look at an object 15 seconds after it came.
const patience = 75 * time.Second

// world is what one test has: a namespace, and the administrator's client and kubectl.
type world struct {
	namespace string
	client    dynamic.Interface
	mapper    meta.RESTMapper
	kubectl   kubectl.Kubectl
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.Rights())
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	found, err := discovery.NewDiscoveryClientForConfig(env.Admin)
	require.NoError(t, err)
	resources, err := restmapper.GetAPIGroupResources(found)
	require.NoError(t, err)
	return &world{
		namespace: env.Namespace, client: client,
		mapper: restmapper.NewDiscoveryRESTMapper(resources), kubectl: kubectl.For(t, env),
	}
}

// object reads a manifest, in which $namespace is the test's own. Objects of the whole cluster use it as their name.
func (w *world) object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(strings.ReplaceAll(manifest, "$namespace", w.namespace)), &object.Object))
	return object
}

// resource gives the endpoint of a kind.
func (w *world) resource(t *testing.T, kind schema.GroupVersionKind) dynamic.ResourceInterface {
	t.Helper()
	mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return w.client.Resource(mapping.Resource)
	}
	return w.client.Resource(mapping.Resource).Namespace(w.namespace)
}

// create creates an object and deletes it when the test ends: namespaces take theirs along, but not those of the
// whole cluster.
func (w *world) create(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	object := w.object(t, manifest)
	endpoint := w.resource(t, object.GroupVersionKind())
	created, err := endpoint.Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	if created.GetNamespace() == "" {
		t.Cleanup(func() {
			_ = endpoint.Delete(context.WithoutCancel(t.Context()), created.GetName(), metav1.DeleteOptions{}) // or the story has
		})
	}
	return created
}

// patch merges into an object, or into its status with the subresource "status".
func (w *world) patch(t *testing.T, version, kind, name, patch string, subresources ...string) {
	t.Helper()
	endpoint := w.resource(t, schema.FromAPIVersionAndKind(version, kind))
	document, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(t, err)
	_, err = endpoint.Patch(t.Context(), name, types.MergePatchType, document, metav1.PatchOptions{}, subresources...)
	require.NoError(t, err)
}

// ungate lets the scheduler have the Pods that were held back, once there are as many.
func ungate(count int) func(t *testing.T, w *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		pods := w.resource(t, schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
		var list *unstructured.UnstructuredList
		require.Eventually(t, func() (there bool) {
			var err error
			list, err = pods.List(t.Context(), metav1.ListOptions{})
			return err == nil && len(list.Items) == count
		}, patience, 20*time.Millisecond, "%d Pods", count)
		for _, pod := range list.Items {
			w.patch(t, "v1", "Pod", pod.GetName(), "{spec: {schedulingGates: null}}")
		}
	}
}
