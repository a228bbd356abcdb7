package movedfromoper8

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
)

const dependencyHash = "oper8.org/dependency-hash"

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// oven is a Deployment whose Pods have annotations.
func oven(namespace string, annotations map[string]any) map[string]any {
	metadata := map[string]any{"labels": map[string]any{"app": "oven"}}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "oven", "namespace": namespace},
		"spec": map[string]any{
			"replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": "oven"}},
			"template": map[string]any{
				"metadata": metadata,
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "oven", "image": "oven"}}},
			},
		},
	}
}

// keptHash is the annotation as oper8 has left it: what the guide says of how Pods keep running.
func keptHash(ctx context.Context, s *reconcile.Session) (map[string]any, error) {
	live, err := s.Get(ctx, deploy.Ref{Kind: deployments, Namespace: s.Namespace(), Name: "oven"})
	if live == nil || err != nil {
		return nil, err
	}
	hash, found, err := unstructured.NestedString(live.Object, "spec", "template", "metadata", "annotations", dependencyHash)
	if !found || err != nil {
		return nil, err
	}
	return map[string]any{dependencyHash: hash}, nil
}

func testDependencyHash(t *testing.T) {
	for _, row := range []struct {
		reason   string
		keeps    bool
		restarts bool
	}{
		{"what isn't rendered any more goes from the template, which restarts the Pods", false, true},
		{"what is rendered as it is in the cluster restarts none", true, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.CreateYAML("{apiVersion: " + loaves.GroupVersion().String() + ", kind: Loaf, metadata: {name: a}}")
			owner := w.Get(loaves, "a")
			content := oven(w.namespace, map[string]any{dependencyHash: "da39a3ee5e6b4b0d3255bfef95601890afd80709"})
			content["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
				"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": "a", "uid": string(owner.GetUID()), "blockOwnerDeletion": true,
			}}
			before := w.Apply(&unstructured.Unstructured{Object: content})
			for range 2 {
				w.reconcile(w.api, "a", func(ctx context.Context, s *reconcile.Session) error {
					var annotations map[string]any
					if row.keeps {
						kept, err := keptHash(ctx, s)
						require.NoError(t, err)
						annotations = kept
					}
					s.Add("oven", oven(w.namespace, annotations))
					return nil
				})
			}
			after := w.Get(deployments, "oven")
			assert.Equal(t, before.GetUID(), after.GetUID())
			assert.Equal(t, row.restarts, !reflect.DeepEqual(template(t, before), template(t, after)))
		})
	}
}

// template is what a Deployment makes its Pods of. New ones take their place when it changes.
func template(t *testing.T, deployment *unstructured.Unstructured) map[string]any {
	t.Helper()
	content, found, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	require.NoError(t, err)
	require.True(t, found)
	return content
}
