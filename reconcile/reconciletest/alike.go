package reconciletest

import (
	"context"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// alike is a cluster that accepts any kind. A kind is cluster-scoped in it if it is cluster-scoped in the cluster
// model.
type alike struct {
	deploy.Cluster
	model deploy.Port
}

// Port implements deploy.Cluster.
func (a alike) Port() deploy.Port { return alikePort{a.Cluster.Port(), a.model} }

type alikePort struct {
	deploy.Port
	model deploy.Port
}

// Scope implements deploy.Port. It is called before the first object of a kind is sent.
func (p alikePort) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	scope, err := p.Port.Scope(ctx, kind)
	if err != nil || scope == deploy.ClusterScoped {
		return scope, err
	}
	wanted, err := p.model.Scope(ctx, kind)
	if failure.Is[*deploy.KindUnknownError](err) {
		return scope, nil
	}
	if err != nil || wanted == scope {
		return wanted, err
	}
	_, err = p.Create(ctx, definitionOf(kind), deploy.CreateOptions{FieldManager: FieldManager})
	if err != nil && !failure.Is[*deploy.AlreadyExistsError](err) {
		return "", err
	}
	return wanted, nil
}

// definitionOf returns a minimal CustomResourceDefinition for a cluster-scoped kind.
func definitionOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	plural := strings.ToLower(kind.Kind) + "s"
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"spec": map[string]any{
			"group": kind.Group, "scope": "Cluster", "names": map[string]any{"kind": kind.Kind, "plural": plural},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	obj.SetName(plural + "." + kind.Group)
	return obj
}
