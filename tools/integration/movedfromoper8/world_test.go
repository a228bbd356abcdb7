package movedfromoper8

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/envtest"
)

var (
	loaves     = schema.GroupVersionKind{Group: "movedfromoper8.operkit.dev", Version: "v1", Kind: "Loaf"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// world is a namespace of a real control plane, the old operator as one who applies, and the new one's client.
type world struct {
	*bystander.Bystander
	t         *testing.T
	namespace string
	api       *cluster.Cluster
}

func newWorld(t *testing.T, options ...envtest.Option) *world {
	t.Helper()
	env := envtest.Start(t, append(options, envtest.CRDs("testdata/loaf.yaml"))...)
	ctx, stop := context.WithCancel(t.Context())
	api, err := cluster.New(ctx, env.Admin, cluster.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() { stop(); api.Wait() })
	return &world{bystander.New(t, api, env.Namespace, "oper8"), t, env.Namespace, api}
}

// baker is a controller of Loaves whose Setup is a function.
type baker func(ctx context.Context, s *reconcile.Session) error

func (baker) Kind() schema.GroupVersionKind { return loaves }

func (b baker) Setup(ctx context.Context, s *reconcile.Session) error { return b(ctx, s) }

// reconcile has a Loaf reconciled once.
func (w *world) reconcile(on deploy.Cluster, name string, setup baker, options ...reconcile.Option) {
	w.t.Helper()
	manager, err := deploy.NewManager(on, deploy.FieldManager("oper8"))
	require.NoError(w.t, err)
	r, err := reconcile.New(setup, manager, append(options, reconcile.Logger(slog.New(slog.DiscardHandler)))...)
	require.NoError(w.t, err)
	_, err = r.Reconcile(w.t.Context(), request.Request{Key: deploy.Ref{Kind: loaves, Namespace: w.namespace, Name: name}})
	require.NoError(w.t, err)
}

// objects are those of a file, in the world's namespace or with its name, and with a label by which they are told from
// others'.
func (w *world) objects(file string) []*unstructured.Unstructured {
	w.t.Helper()
	all := decoded(w.t, file)
	for _, obj := range all {
		obj.SetLabels(map[string]string{"of": w.namespace})
		scope, err := w.api.Port().Scope(w.t.Context(), obj.GroupVersionKind())
		require.NoError(w.t, err)
		if scope == deploy.ClusterScoped {
			obj.SetName(w.namespace + "-" + obj.GetName())
		} else {
			obj.SetNamespace(w.namespace)
		}
		if involved, found := obj.Object["involvedObject"].(map[string]any); found {
			involved["namespace"] = w.namespace
		}
	}
	return all
}

func decoded(t *testing.T, file string) (all []*unstructured.Unstructured) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for reader := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 1024); ; {
		obj := &unstructured.Unstructured{}
		err := reader.Decode(&obj.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, obj)
	}
}
