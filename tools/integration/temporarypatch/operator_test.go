package temporarypatch

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
)

const patience = 30 * time.Second

var gizmos = schema.GroupVersionKind{Group: "integration.operkit.dev", Version: "v1", Kind: "Gizmo"}

// gizmo controls Gizmos: each is one ConfigMap.
type gizmo struct{}

func (gizmo) Kind() schema.GroupVersionKind { return gizmos }

func (gizmo) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("store").Add("settings", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"}, "data": map[string]any{"mode": "old"},
	})
	return nil
}

// world is an operator of Gizmos and of patches to them.
type world struct {
	t    *testing.T
	port deploy.Port
	env  *envtest.Env
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("testdata/gizmo.yaml", "../../../reconcile/temporarypatch/operkit.dev_temporarypatches.yaml"))
	ctx, stop := context.WithCancel(t.Context())
	quiet := slog.New(slog.DiscardHandler)
	api, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace), cluster.Logger(quiet))
	require.NoError(t, err)
	engine, err := watch.New(api.View(), watch.Logger(quiet), watch.Grace(0))
	require.NoError(t, err)
	manager, err := deploy.NewManager(api)
	require.NoError(t, err)
	patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(gizmo{}))
	require.NoError(t, err)
	for controller, options := range map[reconcile.Controller][]reconcile.Option{patches: nil, gizmo{}: {reconcile.WithPatches(patches)}} {
		reconciler, err := reconcile.New(controller, manager, append(options, reconcile.WithWatcher(engine), reconcile.Logger(quiet))...)
		require.NoError(t, err)
		require.NoError(t, engine.Control(reconciler.Kind(), reconciler))
	}
	var running sync.WaitGroup
	running.Go(func() { _ = engine.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait(); api.Wait() })
	return &world{t, api.Port(), env}
}

// create makes an object as somebody else does.
func (w *world) create(text string) error {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(w.t, yaml.Unmarshal([]byte(text), &obj.Object))
	obj.SetNamespace(w.env.Namespace)
	_, err := w.port.Create(w.t.Context(), obj, deploy.CreateOptions{FieldManager: "support"})
	return err
}

func (w *world) patch(body string) error {
	_, err := w.port.Patch(w.t.Context(), w.ref(temporarypatch.DefaultKind, "p"), deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "support"})
	return err
}

func (w *world) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: w.env.Namespace, Name: name}
}

// mode waits until the rendered object says so.
func (w *world) mode(want string) {
	w.t.Helper()
	var mode string
	require.Eventually(w.t, func() bool {
		obj, err := w.port.Get(w.t.Context(), w.ref(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "settings"))
		if obj != nil {
			mode, _, err = unstructured.NestedString(obj.Object, "data", "mode")
		}
		return err == nil && mode == want
	}, patience, 10*time.Millisecond, "the mode doesn't become %q", want)
}
