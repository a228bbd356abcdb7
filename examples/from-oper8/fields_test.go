package main

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// oper8 replaces objects where an apply won't do. What it set so and this operator doesn't render goes at the first
// apply, and nothing is written from then on.
//
// It isn't parallel to the others: they look at the bakeries of all namespaces.
func TestMovedFromOper8(t *testing.T) {
	t.Run("fields that the operator before wrote by PUT", func(t *testing.T) {
		w := newWorld(t)
		owner := w.CreateYAML(bakery)
		recipes := cut(t, name+"-recipes")
		seeded := w.putBy("oper8", w.oper8.Create(w.recipes(owner, recipes, "{bread: rye, cake: none}")), func(obj *unstructured.Unstructured) {
			obj.SetLabels(map[string]string{"old": "x"})
			require.NoError(t, unstructured.SetNestedField(obj.Object, "none", "data", "pie"))
		})
		out := w.run("diff", "-A")
		assert.Contains(t, out, "-  cake: none")
		assert.Contains(t, out, "-  pie: none")
		assert.Contains(t, out, "-    old: x")

		w.start()
		w.settled(name)
		after := w.Get(configMaps, recipes)
		assert.Equal(t, seeded.GetUID(), after.GetUID())
		assert.Equal(t, map[string]any{"bread": "rye"}, after.Object["data"])
		assert.Empty(t, after.GetLabels())
		assert.Equal(t, 2, w.writes().Count()["patch configmaps"], "its fields are taken over, and it is applied")
		mark := w.Mark(t)
		w.Merge(bakeries, name, `{"metadata": {"annotations": {"note": "look again"}}}`)
		w.AwaitQuiet(t, w.operator)
		assert.Zero(t, w.CallsSince(t, mark, w.operator).Writes().Count()["patch configmaps"])
		w.Delete(bakeries, name)
		w.Eventually("the bakery is gone", func() bool { return w.Get(bakeries, name) == nil })
	})
}

// recipes is a ConfigMap of the bakery as oper8 made it.
func (w *world) recipes(owner *unstructured.Unstructured, name, data string) *unstructured.Unstructured {
	w.t.Helper()
	obj := w.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", annotations: {oper8.org/internal-name: oven.recipes}}, data: " + data + "}")
	require.NoError(w.t, unstructured.SetNestedSlice(obj.Object, []any{map[string]any{
		"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()), "blockOwnerDeletion": true,
	}}, "metadata", "ownerReferences"))
	return obj
}

// putBy replaces an object as a manager does.
func (w *world) putBy(manager string, obj *unstructured.Unstructured, change func(obj *unstructured.Unstructured)) *unstructured.Unstructured {
	w.t.Helper()
	next := obj.DeepCopy()
	change(next)
	next.SetManagedFields(nil)
	stored, err := w.api.Port().Update(w.t.Context(), next, deploy.UpdateOptions{FieldManager: manager})
	require.NoError(w.t, err)
	return stored
}
