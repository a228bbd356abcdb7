package desired_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// annotated gives a wanted child a strategy of its own.
func annotated(child map[string]any, strategy string) map[string]any {
	child["metadata"].(map[string]any)["annotations"] = map[string]any{"operkit.dev/strategy": strategy}
	return child
}

// TestAnnotatedStrategy updates two ConfigMaps, of which a has a strategy of its own.
func TestAnnotatedStrategy(t *testing.T) {
	t.Parallel()
	b := []string{"configured ConfigMap b"}
	for _, row := range []struct {
		reason   string
		declared desired.Strategy
		named    string
		want     []string
	}{
		{"desired 71: Apply, also of a kind that is declared OnDelete", desired.OnDelete, "Apply", []string{"configured ConfigMap a"}},
		{"desired 71: Replace", desired.OnDelete, "Replace", []string{"configured ConfigMap a"}},
		{"desired 71: RecreateOnChange", desired.OnDelete, "RecreateOnChange", []string{"deleted ConfigMap a", "created ConfigMap a"}},
		{"desired 71: Recreate recreates what can't be changed, which a ConfigMap can", desired.Recreate, "Recreate", []string{"configured ConfigMap a", "deleted ConfigMap b", "created ConfigMap b"}},
		{"desired 71: OnDelete", desired.InPlace, "OnDelete", b},
		{"desired 71: CreateOnly", desired.InPlace, "CreateOnly", b},
		{"desired 71: Ignore", desired.InPlace, "Ignore", b},
		{"desired 71: in a roll, too", desired.RollingInPlace, "RecreateOnChange", []string{"deleted ConfigMap a", "created ConfigMap a", "configured ConfigMap b"}},
		{"desired 71: also a replacement", desired.RollingRecreate, "Replace", []string{"configured ConfigMap a", "deleted ConfigMap b", "created ConfigMap b"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := drive(t, script{}, desired.Child(configMaps, row.declared))
			h.Apply(parent(annotated(configMap("a", "k=1"), "Apply"), configMap("b", "k=1")))
			h.RunUntilSettled()
			want(h, annotated(configMap("a", "k=2"), row.named), configMap("b", "k=2"))
			h.RunUntilSettled()
			var children []string
			for _, write := range writes(h) {
				if write != statusWritten {
					children = append(children, write)
				}
			}
			assert.Equal(t, row.want, children)
			h.RunUntilSettled()
			assert.Empty(t, writes(h), "it is settled")
		})
	}
	t.Run("desired 71: a child with Ignore isn't created, and nobody waits for it", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(pods, desired.RollingRecreate))
		h.Apply(parent(pod("a", "1"), pod("b", "1")))
		h.RunUntilSettled()
		want(h, annotated(pod("none", "1"), "Ignore"), pod("a", "2"), pod("b", "2"))
		h.RunUntilSettled()
		h.Gone("Pod none")
		assert.Equal(t, []string{"deleted Pod a", "created Pod a", statusWritten, "deleted Pod b", "created Pod b"}, writes(h))
	})
	t.Run("desired 71: neither for one with OnDelete that isn't healthy", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(pods, desired.RollingRecreate))
		h.Apply(parent(annotated(pod("a", "1"), "OnDelete"), pod("b", "1")))
		h.RunUntilSettled()
		h.Hold("Pod a")
		h.Delete("Pod a")
		h.RunUntilSettled()
		want(h, annotated(pod("a", "2"), "OnDelete"), pod("b", "2"))
		h.RunUntilSettled()
		assert.Equal(t, []string{"deleted Pod b", "created Pod b"}, writes(h)[:2])
	})
	t.Run("desired 71: an object of others with Ignore stays theirs", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(configMap("a", "k=theirs"))
		h.Apply(parent(annotated(configMap("a", "k=1"), "Ignore")))
		settles(t, h, "only the status", statusWritten)
		require.True(t, isOrphan(h.Get("ConfigMap a")))
	})
	t.Run("desired 71: a claim is recreated only by the strategy that says so", func(t *testing.T) {
		t.Parallel()
		claim := func(mode string) map[string]any {
			return map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"metadata": map[string]any{"name": "a"},
				"spec":     map[string]any{"accessModes": []any{mode}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
			}
		}
		h := drive(t, reporter{}, desired.Child(claims, desired.Recreate, desired.Deletable()))
		h.Apply(parent(claim("ReadWriteOnce")))
		h.RunUntilSettled()
		uid := h.Get("PersistentVolumeClaim a").GetUID()
		want(h, claim("ReadWriteMany"))
		h.RunUntilSettled()
		assert.Equal(t, uid, h.Get("PersistentVolumeClaim a").GetUID())
		assert.Contains(t, statusOf(h)["error"], "deleting the object would also delete what it contains")
		h.Edit("PersistentVolumeClaim a", func(a *unstructured.Unstructured) { a.SetFinalizers(nil) })
		want(h, annotated(claim("ReadWriteMany"), "RecreateProtected"))
		h.RunUntilSettled()
		assert.NotEqual(t, uid, h.Get("PersistentVolumeClaim a").GetUID())
	})
	t.Run("desired 71: an unknown strategy is the error of its child, also of a kind that is declared OnDelete", func(t *testing.T) {
		t.Parallel()
		h := drive(t, reporter{}, desired.Child(configMaps, desired.OnDelete))
		h.Apply(parent(configMap("a")))
		h.RunUntilSettled()
		want(h, annotated(configMap("a"), "Guess"))
		h.RunUntilSettled()
		assert.Contains(t, statusOf(h)["error"], `unknown strategy "Guess"`)
	})
}
