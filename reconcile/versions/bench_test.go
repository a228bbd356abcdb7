package versions_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func init() {
	programs["tower"] = func(ctx context.Context, _ string) error {
		return child.Serve(ctx, "", []reconcile.Controller{Tower{}})
	}
}

// Tower has ten components of ten objects, as operators render them, each after the one before.
type Tower struct{}

func (Tower) Kind() schema.GroupVersionKind { return houses }

func (Tower) Setup(_ context.Context, s *reconcile.Session) error {
	var before *reconcile.Component
	for c := range 10 {
		component := s.Add(fmt.Sprint("c", c))
		for o := range 10 {
			component.Add("", furniture(fmt.Sprintf("c%d-%d", c, o), o))
		}
		if before != nil {
			component.After(before)
		}
		before = component
	}
	return nil
}

// furniture is one of ten objects: 5 ConfigMaps, 3 Services, 2 Deployments.
func furniture(name string, place int) *unstructured.Unstructured {
	labels := map[string]any{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "tower", "app.kubernetes.io/managed-by": "builder"}
	var obj *unstructured.Unstructured
	switch {
	case place < 5:
		obj = configMap(name, map[string]any{"colour": "blue", "size": name, "settings.yaml": "listen: 8080\nlevel: info\nworkers: 4\nname: " + name + "\n"})
	case place < 8:
		obj = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name},
			"spec": map[string]any{
				"selector": map[string]any{"app": name},
				"ports":    []any{map[string]any{"name": "http", "port": int64(80), "protocol": "TCP", "targetPort": "http"}},
			},
		}}
	default:
		obj = workload(name)
	}
	obj.Object["metadata"].(map[string]any)["labels"] = labels
	return obj
}

func house(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "House", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// What a reconcile costs that finds everything as it should be, here and by way of another process.
func BenchmarkSettled(b *testing.B) {
	pool := start(b, folder(b, "tower", "1.0.0"))
	for name, controller := range map[string]reconcile.Controller{"InProcess": Tower{}, "ByChild": pool.Controllers()[0]} {
		b.Run(name, func(b *testing.B) {
			resource := house("h", map[string]any{"version": "1.0.0"})
			resource.SetNamespace("town")
			resource.SetUID("uid-of-h")
			memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(resource))
			require.NoError(b, err)
			manager, err := deploy.NewManager(memory)
			require.NoError(b, err)
			r, err := reconcile.New(controller, manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
			require.NoError(b, err)
			again := request.Request{Key: deploy.Ref{Kind: houses, Namespace: "town", Name: "h"}}
			for range 2 {
				_, err = r.Reconcile(b.Context(), again)
				require.NoError(b, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Reconcile(b.Context(), again); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
