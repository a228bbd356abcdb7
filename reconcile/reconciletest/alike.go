package reconciletest

import (
	"context"
	"errors"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// alike is a cluster that accepts any kind, where those have no namespaces that have none in another cluster.
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

// Scope implements deploy.Port. It is asked before the first object of a kind is sent.
func (p alikePort) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	scope, err := p.Port.Scope(ctx, kind)
	if err != nil || scope == deploy.ClusterScoped {
		return scope, err
	}
	wanted, err := p.model.Scope(ctx, kind)
	var unknown *deploy.KindUnknownError
	if errors.As(err, &unknown) {
		return scope, nil
	}
	if err != nil || wanted == scope {
		return wanted, err
	}
	_, err = p.Create(ctx, definitionOf(kind), deploy.CreateOptions{FieldManager: FieldManager})
	var exists *deploy.AlreadyExistsError
	if err != nil && !errors.As(err, &exists) {
		return "", err
	}
	return wanted, nil
}

// definitionOf is the CustomResourceDefinition of a kind without namespaces that says no more than that.
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
