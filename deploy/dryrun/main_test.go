package dryrun_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	namespace  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
)

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, obj.UnmarshalJSON(content))
	return obj
}

// plainObject is object for manifests that the decoder would refuse.
func plainObject(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

// settings is a ConfigMap shop/settings with the given lines of data.
func settings(t testing.TB, data string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: "+data)
}

var cartRef = deploy.Ref{Kind: schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Cart"}, Namespace: "shop", Name: "c"}

// cart is an object of a kind that nobody declares.
func cart(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: shop.example.com/v1\nkind: Cart\nmetadata: {name: c, namespace: shop}\nspec: "+spec)
}

// newCluster is a cluster that accepts any kind.
func newCluster(t testing.TB, options ...dryrun.Option) *dryrun.Cluster {
	t.Helper()
	cluster, err := dryrun.New(append([]dryrun.Option{dryrun.AnyKind()}, options...)...)
	require.NoError(t, err)
	return cluster
}

// port is every request that a cluster in memory answers.
type port interface {
	deploy.Port
	Create(context.Context, *unstructured.Unstructured, deploy.CreateOptions) (*unstructured.Unstructured, error)
	Update(context.Context, *unstructured.Unstructured, deploy.UpdateOptions) (*unstructured.Unstructured, error)
	List(context.Context, schema.GroupVersionKind, string, deploy.ListOptions) ([]*unstructured.Unstructured, error)
	Kinds(context.Context, string) ([]schema.GroupVersionKind, error)
}

func requests(c *dryrun.Cluster) port { return c.Port().(port) }

func apply(t testing.TB, c *dryrun.Cluster, manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	applied, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: manager})
	require.NoError(t, err)
	return applied.Object
}

func force(t testing.TB, c *dryrun.Cluster, manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	applied, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: manager, Force: true})
	require.NoError(t, err)
	return applied.Object
}

func merge(t testing.TB, c *dryrun.Cluster, ref deploy.Ref, manager, body string) *unstructured.Unstructured {
	t.Helper()
	obj, err := c.Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: manager})
	require.NoError(t, err)
	return obj
}

func get(t testing.TB, c *dryrun.Cluster, ref deploy.Ref) *unstructured.Unstructured {
	t.Helper()
	obj, err := c.View().Get(t.Context(), ref)
	require.NoError(t, err)
	return obj.DeepCopy()
}

// owned returns the fields of a manager as the API server writes them, or nil.
func owned(obj *unstructured.Unstructured, manager, operation, subresource string) any {
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager == manager && string(entry.Operation) == operation && entry.Subresource == subresource {
			return string(entry.FieldsV1.GetRawBytes())
		}
	}
	return nil
}

func data(obj *unstructured.Unstructured) map[string]string {
	values, _, _ := unstructured.NestedStringMap(obj.Object, "data")
	return values
}

// clock is a time that the test moves.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }
