package controller_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

// defineDecorator returns the definition of a Decorator of CatSets with hooks at an address.
func defineDecorator(t *testing.T, address, hooks string) *definition.Controller {
	t.Helper()
	found, err := definition.Read([]byte(`
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: painters}
spec:
  resources:
  - apiVersion: hooks.operkit.dev/v1
    resource: catsets
    labelSelector: {matchLabels: {paint: "yes"}}
    annotationSelector: {matchExpressions: [{key: color, operator: Exists}]}
  attachments:
  - {apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}
  hooks:
    sync: {version: v2, webhook: {url: ` + address + `/sync}}
` + strings.ReplaceAll(hooks, "ADDRESS", address)))
	require.NoError(t, err)
	return found[0]
}

const finalizeToo = "    finalize: {version: v2, webhook: {url: ADDRESS/finalize}}\n"

// paint is an answer that paints: a label, an annotation, and an attachment with the color.
func paint(r asked) any {
	return map[string]any{
		"labels": map[string]any{"painted": "yes", "bare": nil}, "annotations": map[string]any{"painter": "pat"},
		"attachments": []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": r.Object.GetName() + "-paint", "namespace": "default"},
			"data": map[string]any{"color": r.Object.GetAnnotations()["color"]},
		}},
	}
}

// mark sets the labels and the annotation by which parents are selected.
func mark(h *reconciletest.Harness, label, color string) {
	h.Edit("CatSet tom", func(obj *unstructured.Unstructured) {
		obj.SetLabels(map[string]string{"paint": label, "bare": "yes"})
		obj.SetAnnotations(map[string]string{"color": color})
	})
}

func TestDecorator(t *testing.T) {
	t.Parallel()
	t.Run("hooks 9: it adds to its parent, and leaves the status alone", func(t *testing.T) {
		t.Parallel()
		server := newHook(t, map[string]func(asked) any{"/sync": paint})
		h := drive(t, defineDecorator(t, server.URL, ""))
		h.Apply(tom)
		h.SetStatus("CatSet tom", map[string]any{"cats": int64(7)})
		mark(h, "yes", "blue")
		h.RunUntilSettled()
		h.Created("ConfigMap tom-paint")
		got := h.Get("CatSet tom")
		assert.Equal(t, map[string]string{"paint": "yes", "painted": "yes"}, got.GetLabels(), "null has removed a label")
		assert.Equal(t, map[string]string{"color": "blue", "painter": "pat"}, got.GetAnnotations())
		assert.Equal(t, map[string]any{"cats": int64(7)}, got.Object["status"])
		first := server.asked()[0]
		assert.Equal(t, "DecoratorController", first.Controller["kind"])
		assert.Equal(t, "tom", first.Object.GetName())
		assert.Nil(t, first.Parent.Object)
		assert.Nil(t, first.Children)
		assert.Equal(t, map[string]map[string]map[string]any{"ConfigMap.v1": {}}, first.Attachments)
		h.RunUntilSettled()
		h.Writes(0)
		server.asked()
		h.RunUntilSettled()
		assert.Empty(t, server.asked(), "nothing has changed: no hook is called")
	})
	t.Run("hooks 9: a status is written as it is returned", func(t *testing.T) {
		t.Parallel()
		server := newHook(t, map[string]func(asked) any{"/sync": func(asked) any {
			return map[string]any{"status": map[string]any{"cats": 3, "conditions": []any{map[string]any{"type": "Painted", "status": "True"}}}}
		}})
		h := drive(t, defineDecorator(t, server.URL, ""))
		h.Apply(tom)
		mark(h, "yes", "blue")
		h.RunUntilSettled()
		want := map[string]any{"cats": int64(3), "conditions": []any{map[string]any{"type": "Painted", "status": "True"}}}
		assert.Equal(t, want, h.Get("CatSet tom").Object["status"])
	})
	t.Run("hooks 9: an attachment of a kind that isn't declared", func(t *testing.T) {
		t.Parallel()
		server := newHook(t, map[string]func(asked) any{"/sync": func(asked) any {
			return map[string]any{"attachments": []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}}}}
		}})
		h := drive(t, defineDecorator(t, server.URL, ""))
		h.Apply(tom)
		mark(h, "yes", "blue")
		_, err := h.Reconcile("CatSet tom")
		assert.EqualError(t, err, "DecoratorController painters: hook sync: attachments[0]: Pod a of v1: spec.attachments doesn't have this kind: add its resource in this version")
	})
}

func TestSelectedParents(t *testing.T) {
	t.Parallel()
	t.Run("hooks 11: others are left alone", func(t *testing.T) {
		t.Parallel()
		server := newHook(t, map[string]func(asked) any{"/sync": paint, "/finalize": paint})
		h := drive(t, defineDecorator(t, server.URL, finalizeToo))
		h.Apply(tom)
		h.RunUntilSettled()
		mark(h, "no", "blue")
		h.RunUntilSettled()
		h.Writes(0)
		assert.Empty(t, server.asked())
	})
	t.Run("hooks 11: one that isn't selected any more is finalized", func(t *testing.T) {
		t.Parallel()
		server := newHook(t, map[string]func(asked) any{"/sync": paint, "/finalize": func(r asked) any {
			return map[string]any{"labels": map[string]any{"painted": nil}, "finalized": len(r.Attachments["ConfigMap.v1"]) == 0}
		}})
		h := drive(t, defineDecorator(t, server.URL, finalizeToo))
		h.Apply(tom)
		mark(h, "yes", "blue")
		h.RunUntilSettled()
		assert.Equal(t, []string{"metacontroller.io/decoratorcontroller-painters"}, h.Get("CatSet tom").GetFinalizers())
		server.asked()
		h.Edit("CatSet tom", func(obj *unstructured.Unstructured) { obj.SetAnnotations(nil) })
		h.RunUntilSettled()
		for _, call := range server.asked() {
			assert.Equal(t, "/finalize", call.Path)
			assert.True(t, call.Finalizing)
			assert.Nil(t, call.Object.GetDeletionTimestamp())
		}
		got := h.Get("CatSet tom")
		assert.Empty(t, got.GetFinalizers())
		assert.NotContains(t, got.GetLabels(), "painted")
		h.Gone("ConfigMap tom-paint")
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("hooks 11: a change of the status counts, unless the definition ignores it", func(t *testing.T) {
		t.Parallel()
		for _, ignores := range []bool{false, true} {
			server := newHook(t, map[string]func(asked) any{"/sync": paint})
			of := defineDecorator(t, server.URL, "")
			of.Parents[0].IgnoreStatusChanges = ignores
			h := drive(t, of)
			h.Apply(tom)
			mark(h, "yes", "blue")
			h.RunUntilSettled()
			server.asked()
			h.SetStatus("CatSet tom", map[string]any{"cats": int64(7)})
			h.RunUntilSettled()
			assert.Equal(t, ignores, len(server.asked()) == 0)
		}
	})
}
