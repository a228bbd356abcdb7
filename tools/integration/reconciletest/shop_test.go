package reconciletest

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shops = schema.GroupVersionKind{Group: "reconciletest.operkit.dev", Version: "v1", Kind: "Shop"}

const tea = "{apiVersion: reconciletest.operkit.dev/v1, kind: Shop, metadata: {name: tea}, spec: {sign: open}}"

// shop is an operator as users write them: workloads, then a door that waits for them, and something to do at the end.
type shop struct{}

func (shop) Kind() schema.GroupVersionKind { return shops }

func (shop) Setup(_ context.Context, s *reconcile.Session) error {
	sign, _, err := unstructured.NestedString(s.Resource().Object, "spec", "sign")
	if err != nil {
		return request.Configuration("spec.sign: %w", err)
	}
	store := s.Add("store", workload(s, "StatefulSet", "store"), service(s, "store"))
	counter := s.Add("counter", workload(s, "Deployment", "counter"), service(s, "counter"))
	counter.After(store, reconcile.Ready)
	s.Add("door", door(s, sign)).After(counter, reconcile.Ready)
	return nil
}

// Finalize closes the door first.
func (shop) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, door(s, ""))
}

func door(s *reconcile.Session, sign string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.ScopedName("door")},
		"data": map[string]any{"sign": sign},
	}
}

func service(s *reconcile.Session, name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": s.ScopedName(name)},
		"spec": map[string]any{"selector": map[string]any{"app": name}, "ports": []any{map[string]any{"port": 80}}},
	}
}

func workload(s *reconcile.Session, kind, name string) map[string]any {
	labels := map[string]any{"app": name}
	spec := map[string]any{
		"replicas": 2, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "example.dev/app:1"}}},
		},
	}
	if kind == "StatefulSet" {
		spec["serviceName"] = s.ScopedName(name)
	}
	return map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": s.ScopedName(name)}, "spec": spec}
}
