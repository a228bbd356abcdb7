package versions_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func init() {
	programs["patched"] = func(ctx context.Context, version string) error {
		controllers := []reconcile.Controller{House{version}}
		return child.Serve(ctx, "", controllers, child.With(func(_ reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error) {
			patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(controllers...))
			return []reconcile.Option{reconcile.WithPatches(patches)}, err
		}))
	}
	programs["strict"] = func(ctx context.Context, version string) error {
		return child.Serve(ctx, "", []reconcile.Controller{House{version}}, child.With(func(reconcile.Controller, *deploy.Manager) ([]reconcile.Option, error) {
			return []reconcile.Option{reconcile.SupportedVersions("7.0.0"), reconcile.StrictVersions(), reconcile.MaxAttempts(1)}, nil
		}))
	}
}

func patch(name string, body map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operkit.dev/v1", "kind": "TemporaryPatch", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"apiVersion": "example.dev/v1", "kind": "House", "name": "home", "patchType": "strategic", "patch": body},
	}}
}

// A temporary patch changes what a version renders, as long as it is there.
func TestTemporaryPatches(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "patched", "1.0.0", "1.1.0"))
	h := reconciletest.New(t, pool.Controllers()[0], reconciletest.TemporaryPatches())
	h.Apply(house("home", map[string]any{"version": "1.0.0", "workload": true}), house("other", map[string]any{"version": "1.0.0"}))
	h.RunUntilSettled()
	data := func(name string) map[string]any {
		data, _ := h.Get("ConfigMap " + name).Object["data"].(map[string]any)
		return data
	}
	require.Equal(t, map[string]any{"version": "1.0.0", "name": "home"}, data("home-base"))

	h.Apply(patch("paint", map[string]any{
		"base": map[string]any{"configmap/home-base": map[string]any{"data": map[string]any{"colour": "blue", "name": "palace"}}},
		"door": map[string]any{"configmap/home-door": map[string]any{"data": map[string]any{"lock": "yes"}}},
	}))
	h.RunUntilSettled()
	assert.Equal(t, map[string]any{"version": "1.0.0", "name": "palace", "colour": "blue"}, data("home-base"))
	assert.Equal(t, "yes", data("home-door")["lock"], "what a Builder makes when its turn has come")
	assert.Equal(t, "other", data("other-base")["name"], "others have nothing of it")
	assert.Equal(t, "True", string(h.Condition("TemporaryPatch paint", "Ready").Status))
	assert.Equal(t, "Unknown", string(h.Condition("TemporaryPatch paint", temporarypatch.ConditionApplied).Status), "what came of it the manager doesn't know")

	h.Edit("House home", func(obj *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(obj.Object, "1.1.0", "spec", "version"))
	})
	h.RunUntilSettled()
	assert.Equal(t, map[string]any{"version": "1.1.0", "name": "palace", "colour": "blue"}, data("home-base"), "another version has it, too")

	h.Edit("TemporaryPatch paint", func(obj *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(obj.Object, "json", "spec", "patchType"))
		body := []any{map[string]any{"op": "remove", "path": "/data/nothing"}}
		require.NoError(t, unstructured.SetNestedField(obj.Object, map[string]any{"base": map[string]any{"configmap/home-base": body}}, "spec", "patch"))
	})
	h.RunUntilSettled()
	assert.Contains(t, h.Condition("House home", "Updating").Message, "component base: object configmap/home-base: patch paint: ")
	assert.Equal(t, "ConfigError", h.Condition("House home", "Ready").Reason)

	h.Delete("TemporaryPatch paint")
	h.RunUntilSettled()
	assert.Equal(t, map[string]any{"version": "1.1.0", "name": "home"}, data("home-base"))
	h.Ready("House home")
}

// What the manager decides is of no effect in a version: which versions there are, when to give up.
func TestOptionsOfAVersion(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "strict", "1.0.0"))
	h := reconciletest.New(t, pool.Controllers()[0], reconciletest.With(reconcile.StrictVersions(), reconcile.SupportedVersions("1.0.0")))
	h.Apply(house("home", map[string]any{"version": "1.0.0"}))
	h.RunUntilSettled()
	h.Ready("House home")
	h.Apply(house("home", map[string]any{"version": "7.0.0"}))
	h.RunUntilSettled()
	assert.Contains(t, h.Condition("House home", "Updating").Message, `version "7.0.0" isn't supported: choose one of 1.0.0`)
}
