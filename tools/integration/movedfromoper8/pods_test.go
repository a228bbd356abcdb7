package movedfromoper8

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
)

const (
	dependencyHash = "oper8.org/dependency-hash"
	// recorded is the hash by oper8's rules of the Secret yeast and of the ConfigMap recipe, computed by Python's
	// hashlib and json as in testdata/oper8.py of package podhash.
	recorded = "55d58cea3b35e345d8b4d7d99c3b03222db57f4e"
)

var (
	pods        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	replicaSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
)

// oven is a Deployment whose Pods read a Secret, by a volume, and a ConfigMap, by their environment.
func oven(namespace string) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "oven", "namespace": namespace},
		"spec": map[string]any{
			"replicas": int64(2), "selector": map[string]any{"matchLabels": map[string]any{"app": "oven"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "oven"}},
				"spec": map[string]any{
					"containers": []any{map[string]any{"name": "oven", "image": "oven", "env": []any{map[string]any{
						"name": "SALT", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": "recipe", "key": "salz"}},
					}}}},
					"volumes": []any{map[string]any{"name": "yeast", "secret": map[string]any{"secretName": "yeast"}}},
				},
			},
		},
	}
}

// yeast is the Secret that belongs to the resource.
func yeast(namespace, value string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "yeast", "namespace": namespace}, "data": map[string]any{"k": value},
	}
}

// moved is a world that oper8 has left: a resource with its Secret and its Deployment, whose Pods run, and a ConfigMap
// of somebody else.
func moved(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.CreateYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: recipe}, data: {flour: 1 kg, salz: für 2}}")
	w.CreateYAML("{apiVersion: " + loaves.GroupVersion().String() + ", kind: Loaf, metadata: {name: a}}")
	owner, blocks := w.Get(loaves, "a"), true
	for _, content := range []map[string]any{yeast(w.namespace, "dg=="), oven(w.namespace)} {
		obj := &unstructured.Unstructured{Object: content}
		if obj.GetKind() == "Deployment" {
			require.NoError(t, unstructured.SetNestedField(content, recorded, "spec", "template", "metadata", "annotations", dependencyHash))
		}
		obj.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: "a", UID: owner.GetUID(), BlockOwnerDeletion: &blocks,
		}})
		w.Apply(obj)
	}
	w.Eventually("the Pods run", func() bool { return len(w.running()) == 2 })
	return w
}

// running returns the uids of the Pods that aren't being deleted.
func (w *world) running() (uids []string) {
	for _, pod := range w.List(pods) {
		if pod.GetDeletionTimestamp() == nil {
			uids = append(uids, string(pod.GetUID()))
		}
	}
	return uids
}

func testDependencyHash(t *testing.T) {
	t.Run("without the option the hash goes from the template, which restarts the Pods", func(t *testing.T) {
		t.Parallel()
		w := moved(t)
		w.bake("dg==")
		w.Eventually("the Pods have been restarted", func() bool { return len(w.List(replicaSets)) == 2 })
	})
	t.Run("with podhash.Oper8 no Pod is restarted, and a changed Secret or ConfigMap restarts them once", func(t *testing.T) {
		t.Parallel()
		w := moved(t)
		before, template := w.running(), templateOf(t, w)
		hash := podhash.Components(podhash.Oper8())
		for range 2 {
			w.bake("dg==", hash)
			assert.Equal(t, template, templateOf(t, w))
		}
		assert.ElementsMatch(t, before, w.running())
		assert.Len(t, w.List(replicaSets), 1)

		// Annotations of a Deployment count for its generation, too: the move has added one.
		start := w.Get(deployments, "oven").GetGeneration()
		for range 2 {
			w.bake("bmV3", hash)
		}
		w.Eventually("the Pods have been restarted", func() bool { return len(w.List(replicaSets)) == 2 })
		w.Merge(configMaps, "recipe", `{"data":{"salz":"für 3"}}`)
		for range 2 {
			w.bake("bmV3", hash)
		}
		w.Eventually("the Pods have been restarted again", func() bool { return len(w.List(replicaSets)) == 3 })
		assert.Equal(t, start+2, w.Get(deployments, "oven").GetGeneration(), "once for each change")
		assert.NotEqual(t, templateOf(t, w), template)
	})
}

// bake reconciles the resource as the new operator does.
func (w *world) bake(value string, options ...reconcile.Option) {
	w.reconcile(w.api, "a", func(_ context.Context, s *reconcile.Session) error {
		s.Add("oven", yeast(w.namespace, value), oven(w.namespace))
		return nil
	}, options...)
}

// templateOf is what the Deployment makes its Pods of. New ones take their place when it changes.
func templateOf(t *testing.T, w *world) map[string]any {
	t.Helper()
	content, found, err := unstructured.NestedMap(w.Get(deployments, "oven").Object, "spec", "template")
	require.NoError(t, err)
	require.True(t, found)
	return content
}
