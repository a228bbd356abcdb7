package desired_test

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// abandon deletes the parent and leaves its children as orphans.
func abandon(t *testing.T, h *reconciletest.Harness) {
	t.Helper()
	ref := deploy.Ref{Kind: catSets, Namespace: "test", Name: "tom"}
	uid := h.Get("CatSet tom").GetUID()
	require.NoError(t, h.Cluster().Port().Delete(t.Context(), ref, deploy.DeleteOptions{UID: uid, Propagation: metav1.DeletePropagationOrphan}))
	h.RunUntilSettled()
	h.Gone("CatSet tom")
}

func isOrphan(obj *unstructured.Unstructured) bool { return len(obj.GetOwnerReferences()) == 0 }

// labelled labels a wanted child, so that an adopter selects it.
func labelled(child map[string]any) map[string]any {
	child["metadata"].(map[string]any)["labels"] = map[string]any{"cat": "tom"}
	return child
}

// adopting is a parent whose adopter selects the orphans of tom.
func adopting(children ...any) *unstructured.Unstructured {
	p := parent(children...)
	p.SetLabels(map[string]string{"adopts": "tom"})
	return p
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	for _, strategy := range []desired.Strategy{desired.OnDelete, desired.InPlace, desired.Recreate, desired.RollingRecreate} {
		t.Run("desired 60: the adoption of an own orphan writes nothing but its owner: "+string(strategy), func(t *testing.T) {
			t.Parallel()
			h := drive(t, adopter{}, desired.Child(configMaps, strategy), desired.Child(pods, strategy))
			children := []any{labelled(configMap("a", "k=1")), labelled(pod("p", "1")), labelled(pod("q", "1"))}
			h.Apply(adopting(children...))
			h.RunUntilSettled()
			uid := h.Get("Pod p").GetUID()
			abandon(t, h)
			require.True(t, isOrphan(h.Get("ConfigMap a")))
			p := adopting(children...)
			p.SetUID("")
			h.Apply(p)
			h.RunUntilSettled()
			assert.Equal(t, map[string]any{"k": "1"}, h.Get("ConfigMap a").Object["data"])
			assert.Equal(t, uid, h.Get("Pod p").GetUID(), "it isn't created again")
			assert.Equal(t, h.Get("CatSet tom").GetUID(), h.Get("Pod q").GetOwnerReferences()[0].UID)
			settles(t, h, "all is done")
		})
	}
	t.Run("desired 61: a child that has lost its owner gets it back first, and is rolled like others", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(pods, desired.RollingRecreate))
		h.Apply(parent(pod("a", "1"), pod("b", "1"), pod("c", "1")))
		h.RunUntilSettled()
		abandon(t, h)
		h.Apply(parent(pod("a", "2"), pod("b", "2"), pod("c", "2")))
		h.Hold("Pod a")
		h.RunUntilSettled()
		image := func(name string) any {
			return h.Get("Pod " + name).Object["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"]
		}
		assert.Equal(t, []any{"2", "1", "1"}, []any{image("a"), image("b"), image("c")}, "a isn't healthy yet")
		assert.False(t, isOrphan(h.Get("Pod c")))
		h.Release("Pod a")
		h.RunUntilSettled()
		assert.Equal(t, []any{"2", "2", "2"}, []any{image("a"), image("b"), image("c")})
	})
	t.Run("desired 61: also with OnDelete", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.OnDelete))
		h.Apply(parent(configMap("a", "k=1")))
		h.RunUntilSettled()
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetOwnerReferences(nil) })
		want(h, configMap("a", "k=2"))
		h.RunUntilSettled()
		assert.False(t, isOrphan(h.Get("ConfigMap a")))
		assert.Equal(t, map[string]any{"k": "1"}, h.Get("ConfigMap a").Object["data"])
		settles(t, h, "all is done")
	})
	t.Run("desired 62: what others have made or control is no child", func(t *testing.T) {
		t.Parallel()
		for by, controls := range map[string]bool{"the same operator for another parent": false, "others for this parent": true} {
			h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
			h.Apply(parent())
			h.RunUntilSettled()
			tom := h.Get("CatSet tom")
			reference := metav1.OwnerReference{APIVersion: tom.GetAPIVersion(), Kind: "CatSet", Name: "tom", UID: tom.GetUID(), Controller: &controls}
			theirs := &unstructured.Unstructured{Object: configMap("theirs", "k=1")}
			theirs.SetNamespace("test")
			theirs.SetOwnerReferences([]metav1.OwnerReference{reference})
			manager := "operkit"
			if controls {
				manager = "somebody"
			}
			_, err := h.Cluster().Port().Apply(t.Context(), theirs, deploy.ApplyOptions{FieldManager: manager})
			require.NoError(t, err)
			h.Bring("CatSet tom")
			h.RunUntilSettled()
			h.Exists("ConfigMap theirs")
			assert.Equal(t, int64(0), statusOf(h)["children"], by)
		}
	})
	t.Run("desired 60: an orphan is adopted only after a Sync without an error", func(t *testing.T) {
		t.Parallel()
		failing := errors.New("no")
		s := adopter{script{also: func(desired.Request[desired.Unstructured], *desired.Response) error { return failing }}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("a", "k=1")))
		h.Apply(adopting())
		_, err := h.Reconcile("CatSet tom")
		require.ErrorIs(t, err, failing)
		assert.True(t, isOrphan(h.Get("ConfigMap a")))
	})
	t.Run("desired 7: an object of a former parent that is being deleted is waited for, with a status", func(t *testing.T) {
		t.Parallel()
		synced := 0
		h := drive(t, script{synced: &synced}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a", "k=1")))
		h.RunUntilSettled()
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers([]string{"example.dev/slow"}) })
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		synced = 0
		h.Apply(parent(configMap("a", "k=2")))
		h.RunUntilSettled()
		assert.Less(t, synced, 5, "it waits")
		assert.Equal(t, int64(0), statusOf(h)["children"])
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers(nil) })
		h.RunUntilSettled()
		assert.Equal(t, map[string]any{"k": "2"}, h.Get("ConfigMap a").Object["data"])
	})
}

// related asks another process for the selections, in vain.
type related struct{ script }

func (related) Related(ctx context.Context, _ *desired.Unstructured) ([]desired.Selection, error) {
	return nil, errors.Join(errors.New("no answer"), ctx.Err())
}

func TestRelatedFails(t *testing.T) {
	t.Parallel()
	t.Run("desired 15: an error of Related changes no child", func(t *testing.T) {
		t.Parallel()
		h := drive(t, related{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a")))
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "related: no answer")
		h.Gone("ConfigMap a")
	})
}
