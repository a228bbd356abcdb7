package reconciletest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// newOiled makes a reconciler that gives each gear a ConfigMap, with patches.
func newOiled(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	patches := env.Patches()
	return reconcilerFunc(func(ctx context.Context, req request.Request) (result request.Result, err error) {
		gear, err := env.Manager.View().Get(ctx, req.Key)
		if err != nil || gear == nil {
			return result, err
		}
		child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"oil": "thin"}}}
		child.SetNamespace(gear.GetNamespace())
		child.SetName(gear.GetName())
		target := patching.Target{Resource: gear, View: env.Manager.View(), Logger: env.Logger}
		objects, err := patching.Objects(ctx, patches, target, "children", []*unstructured.Unstructured{child})
		if err == nil {
			_, err = env.Manager.Apply(ctx, objects)
		}
		return result, err
	}), nil
}

type reconcilerFunc func(ctx context.Context, req request.Request) (request.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	return f(ctx, req)
}

// soldOut is a patch of the sign on tea's door; more is what its spec has beside.
func soldOut(more string) string {
	return `{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: sold-out}, spec: {apiVersion: example.dev/v1, kind: Shop, name: tea,
		patchType: strategic, patch: {door: {configmap/tea-door: {data: {sign: sold out}}}}` + more + `}}`
}

func sign(h *Harness) any {
	h.t.Helper()
	return h.Get("ConfigMap tea-door").Object["data"].(map[string]any)["sign"]
}

func TestTemporaryPatches(t *testing.T) {
	t.Parallel()
	t.Run("operator 31, patches 18: applied, edited and deleted like any resource", func(t *testing.T) {
		t.Parallel()
		h := New(t, market(), TemporaryPatches())
		h.Apply(tea)
		h.RunUntilSettled()
		assert.Equal(t, "open", sign(h))
		h.Apply(soldOut(""))
		h.RunUntilSettled()
		assert.Equal(t, "sold out", sign(h))
		h.Ready("TemporaryPatch sold-out", "Shop tea")
		assert.Equal(t, temporarypatch.ReasonApplied, h.Condition("TemporaryPatch sold-out", "Applied").Reason)
		h.RunUntilSettled()
		h.Writes(0)
		assert.Empty(t, h.Calls())

		h.Edit("TemporaryPatch sold-out", func(obj *unstructured.Unstructured) {
			assert.NoError(t, unstructured.SetNestedField(obj.Object, "back soon", "spec", "patch", "door", "configmap/tea-door", "data", "sign"))
		})
		h.RunUntilSettled()
		assert.Equal(t, "back soon", sign(h))
		h.Restart()
		h.RunUntilSettled()
		assert.Equal(t, "back soon", sign(h))
		h.Writes(0)

		h.Delete("TemporaryPatch sold-out")
		h.RunUntilSettled()
		assert.Equal(t, "open", sign(h))
		h.Gone("TemporaryPatch sold-out")
	})
	t.Run("harness 7: a style that takes the patches has them applied", func(t *testing.T) {
		t.Parallel()
		h := Drive(t, watch.NewController(gears, newOiled), TemporaryPatches())
		h.Apply(`{apiVersion: example.dev/v1, kind: Gear, metadata: {name: one}}`)
		h.RunUntilSettled()
		oil := func() any { return h.Get("ConfigMap one").Object["data"].(map[string]any)["oil"] }
		assert.Equal(t, "thin", oil())
		h.Apply(`{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: thick}, spec: {apiVersion: example.dev/v1, kind: Gear, name: one,
			patchType: strategic, patch: {children: {configmap/one: {data: {oil: thick}}}}}}`)
		h.RunUntilSettled()
		assert.Equal(t, "thick", oil())
		h.Ready("TemporaryPatch thick")
		h.Delete("TemporaryPatch thick")
		h.RunUntilSettled()
		assert.Equal(t, "thin", oil())
		Drive(t, watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
			assert.Nil(t, env.Patches(), "none without the option")
			return newOiled(t.Context(), env)
		}))
	})
	t.Run("patches mistake 17: an expiry comes with the harness's time", func(t *testing.T) {
		t.Parallel()
		h := New(t, market(), TemporaryPatches(temporarypatch.Clock(time.Now)))
		h.Apply(tea, soldOut(`, expiresAt: "2030-01-03T00:00:00Z"`))
		h.RunUntilSettled()
		assert.Equal(t, "sold out", sign(h))
		h.Advance(24 * time.Hour)
		assert.Equal(t, "open", sign(h))
		assert.Equal(t, temporarypatch.ReasonExpired, h.Condition("TemporaryPatch sold-out", "Applied").Reason)
	})
	t.Run("patches mistake 8: one that doesn't fit", func(t *testing.T) {
		t.Parallel()
		h := New(t, market(), TemporaryPatches())
		h.Apply(tea, `{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: bad}, spec: {apiVersion: example.dev/v1, kind: Shop, name: tea,
			patchType: json, patch: {door: {configmap/tea-door: [{op: remove, path: /data/lock}]}}}}`)
		h.RunUntilSettled()
		assert.Equal(t, temporarypatch.ReasonFailed, h.Condition("TemporaryPatch bad", "Applied").Reason)
		assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "component door: object configmap/tea-door: patch bad: ")
		h.Exists("Deployment tea-store")
	})
	t.Run("patches 4: all controllers of the test can be patched", func(t *testing.T) {
		t.Parallel()
		stall := Controlling(schema.GroupVersionKind{}, func(_ context.Context, s *reconcile.Session) error {
			s.Add("door", settings("door", nil))
			return nil
		})
		h := New(t, market(), Also(stall), TemporaryPatches())
		h.Apply(Resource(TestedKind, "stall", nil), `{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: a}, spec: {
			apiVersion: test.operkit.dev/v1, kind: Tested, name: stall, patchType: strategic, patch: {door: {configmap/door: {data: {sign: patched}}}}}}`)
		h.RunUntilSettled()
		assert.Equal(t, map[string]any{"sign": "patched"}, h.Get("ConfigMap door").Object["data"])
	})
	t.Run("patches 9: another kind of them, in a strict cluster", func(t *testing.T) {
		t.Parallel()
		fixes := schema.GroupVersionKind{Group: "example.dev", Version: "v2", Kind: "QuickFix"}
		h := New(t, market(), Definitions("testdata/crds"), TemporaryPatches(temporarypatch.As(fixes)))
		fix := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Shop", "name": "tea", "patchType": "strategic",
			"patch": map[string]any{"door": map[string]any{"configmap/tea-door": map[string]any{"data": map[string]any{"sign": "fixed"}}}},
		}}}
		fix.SetGroupVersionKind(fixes)
		fix.SetName("a")
		h.Apply(tea, fix)
		h.RunUntilSettled()
		assert.Equal(t, "fixed", sign(h))
	})
	t.Run("operator 31: their reconciles can be made to fail too", func(t *testing.T) {
		t.Parallel()
		h := New(t, market(), TemporaryPatches())
		h.Apply(tea)
		h.RunUntilSettled()
		h.Apply(soldOut(""))
		h.FailOnce("", Setup, errors.New("boom"))
		h.RunUntilSettled()
		assert.Equal(t, "sold out", sign(h))
	})
	t.Run("operator 31: rendered with those that are recorded, and nothing is written or told by that", func(t *testing.T) {
		t.Parallel()
		h := New(t, market(), TemporaryPatches())
		h.Apply(tea, soldOut(""))
		rendered := func() any {
			objects := h.Render("Shop tea")[0].Objects
			return objects[0].Object["data"].(map[string]any)["sign"]
		}
		assert.Equal(t, "open", rendered())
		_, err := h.Reconcile("TemporaryPatch sold-out")
		assert.NoError(t, err)
		assert.Equal(t, "sold out", rendered())
		_, err = h.Reconcile("TemporaryPatch sold-out")
		assert.NoError(t, err)
		assert.Equal(t, temporarypatch.ReasonPending, h.Condition("TemporaryPatch sold-out", "Applied").Reason)
		h.RunUntilSettled()
		h.Delete("TemporaryPatch sold-out")
		assert.Equal(t, "open", rendered(), "one that is being deleted is applied no more")
	})
}

func TestTemporaryPatchesRefused(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		options []Option
		want    string
	}{
		"an option that can't be":    {[]Option{TemporaryPatches(temporarypatch.As(schema.GroupVersionKind{}))}, "reconciletest: kind of temporary patches"},
		"a controller of their kind": {[]Option{Also(Controlling(temporarypatch.DefaultKind, nil)), TemporaryPatches()}, "temporary patches: TemporaryPatch has a controller already"},
		"no controller":              {[]Option{Also(nil), TemporaryPatches()}, "reconciletest: nil controller"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, try(t, func(t *trial) { New(t, market(), row.options...) }), row.want)
		})
	}
}
