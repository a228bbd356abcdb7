package cluster_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/deploytest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	service    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	aPodKind   = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	aClaimKind = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	job        = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	cart       = schema.GroupVersionKind{Group: "deploy.operkit.dev", Version: "v1", Kind: "Cart"}
	crate      = schema.GroupVersionKind{Group: "late.operkit.dev", Version: "v1", Kind: "Crate"}

	resources = map[schema.GroupVersionKind]schema.GroupVersionResource{
		configMap:  {Version: "v1", Resource: "configmaps"},
		deployment: {Group: "apps", Version: "v1", Resource: "deployments"},
		service:    {Version: "v1", Resource: "services"},
		job:        {Group: "batch", Version: "v1", Resource: "jobs"},
		cart:       {Group: "deploy.operkit.dev", Version: "v1", Resource: "carts"},
	}
)

// everything are all rights, for a user whose calls are counted: those of the administrator are everybody's.
var everything = envtest.ClusterWide(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}})

// newCluster connects to the control plane as config says, until the test ends.
func newCluster(t testing.TB, config *rest.Config, options ...cluster.Option) *cluster.Cluster {
	t.Helper()
	c, end := endingCluster(t, config, options...)
	t.Cleanup(end)
	return c
}

// endingCluster is a cluster whose watches end when the returned function is called.
func endingCluster(t testing.TB, config *rest.Config, options ...cluster.Option) (*cluster.Cluster, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	quiet := slog.New(slog.DiscardHandler)
	c, err := cluster.New(ctx, config, append([]cluster.Option{cluster.Logger(quiet)}, options...)...)
	require.NoError(t, err)
	return c, func() {
		cancel()
		c.Wait()
	}
}

// watch subscribes to kinds and waits until they are synced.
func watch(t testing.TB, c *cluster.Cluster, kinds ...schema.GroupVersionKind) {
	t.Helper()
	for _, kind := range kinds {
		subscription, err := c.View().Subscribe(t.Context(), kind, func(deploy.Event) {})
		require.NoError(t, err)
		// A definition is established a moment before its storage is ready.
		require.Eventually(t, func() bool { err = subscription.Synced(t.Context()); return err == nil }, patience, time.Millisecond, "%v", err)
	}
}

func object(t testing.TB, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	obj.SetNamespace(namespace)
	return obj
}

func apply(t testing.TB, m *deploy.Manager, obj *unstructured.Unstructured) deploy.Result {
	t.Helper()
	results, err := m.Apply(t.Context(), []*unstructured.Unstructured{obj})
	require.NoError(t, err)
	return results[0]
}

// sameState checks that got is want, of which a View may show less of managedFields.
func sameState(t testing.TB, want, got *unstructured.Unstructured) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, []any{want.GetUID(), want.GetResourceVersion(), want.Object["data"], want.GetAnnotations()},
		[]any{got.GetUID(), got.GetResourceVersion(), got.Object["data"], got.GetAnnotations()})
}

// others is a client of somebody else.
func others(t testing.TB, env *envtest.Env, kind schema.GroupVersionKind) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	return client.Resource(resources[kind]).Namespace(env.Namespace)
}

func edit(t testing.TB, client dynamic.ResourceInterface, name, body string, subresources ...string) {
	t.Helper()
	_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "kubectl-edit"}, subresources...)
	require.NoError(t, err)
}

// eventually waits until the view shows what the condition asks for.
func eventually(t testing.TB, c *cluster.Cluster, ref deploy.Ref, condition func(obj *unstructured.Unstructured) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		obj, err := c.View().Get(t.Context(), ref)
		return err == nil && condition(obj)
	}, patience, 2*time.Millisecond)
}

// A real API server keeps the contract of a cluster: the cases that deploy/dryrun passes in memory.
func TestConformance(t *testing.T) {
	t.Parallel()
	conforms(t)
}

// So it does where kinds are held as metadata only.
func TestConformanceByMetadata(t *testing.T) {
	t.Parallel()
	conforms(t, cluster.MetadataOnly(
		schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Group: "apps", Kind: "Deployment"},
		schema.GroupKind{Group: "deploytest.operkit.dev", Kind: "Widget"},
	))
}

func conforms(t *testing.T, options ...cluster.Option) {
	t.Helper()
	options = append(options, cluster.Selected(deploytest.SelectedKind, deploytest.Selector(), nil))
	deploytest.Run(t, func(t *testing.T) deploytest.World {
		env := envtest.Start(t)
		return deploytest.World{
			Cluster:   newCluster(t, env.Config, append([]cluster.Option{cluster.Namespaces(env.Namespace)}, options...)...),
			Namespace: env.Namespace,
			Others:    newCluster(t, env.Admin),
			Selects:   true,
		}
	})
}

// must returns a value that can't fail to be made.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
