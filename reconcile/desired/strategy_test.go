package desired_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestStrategies updates two ConfigMaps of which somebody else has edited one.
func TestStrategies(t *testing.T) {
	t.Parallel()
	const status = "configured CatSet tom status"
	for _, row := range []struct {
		reason   string
		strategy desired.Strategy
		repaired []string
		updated  []string
		// theirs: the field of others is there after the update.
		theirs bool
		a      string
	}{
		{"desired 6: OnDelete changes nothing", desired.OnDelete, nil, []string{status}, true, "edited"},
		{
			"desired 6: InPlace applies, and keeps the fields of others", desired.InPlace, []string{"configured ConfigMap a"},
			[]string{"configured ConfigMap a", "configured ConfigMap b", status}, true, "2",
		},
		{
			"desired 6: Replace writes all of it", desired.Replace, []string{"configured ConfigMap a"},
			[]string{"configured ConfigMap a", "configured ConfigMap b", status}, false, "2",
		},
		{
			"desired 6: Recreate deletes and creates, and repairs by an apply", desired.Recreate, []string{"configured ConfigMap a"},
			[]string{"deleted ConfigMap a", "created ConfigMap a", "deleted ConfigMap b", "created ConfigMap b", status}, false, "2",
		},
		{
			"desired 7: RollingInPlace applies", desired.RollingInPlace, []string{"configured ConfigMap a"},
			[]string{"configured ConfigMap a", "configured ConfigMap b", status}, true, "2",
		},
		{
			"desired 7: RollingRecreate deletes and creates", desired.RollingRecreate, []string{"configured ConfigMap a"},
			[]string{"deleted ConfigMap a", "created ConfigMap a", "deleted ConfigMap b", "created ConfigMap b", status}, false, "2",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := drive(t, script{}, desired.Child(configMaps, row.strategy))
			h.Apply(parent(configMap("a", "k=1"), configMap("b", "k=1")))
			settles(t, h, "all are created", "created ConfigMap a", "created ConfigMap b", status)
			h.Edit("ConfigMap a", func(obj *unstructured.Unstructured) {
				obj.Object["data"] = map[string]any{"k": "edited", "theirs": "x"}
			})
			settles(t, h, "what others have edited", row.repaired...)
			want(h, configMap("a", "k=2"), configMap("b", "k=2"))
			settles(t, h, "something else is wanted", row.updated...)
			data := h.Get("ConfigMap a").Object["data"].(map[string]any)
			assert.Equal(t, row.a, data["k"])
			assert.Equal(t, row.theirs, data["theirs"] != nil)
			h.Delete("ConfigMap a")
			settles(t, h, "a child that somebody has deleted is created", "created ConfigMap a")
			assert.Equal(t, "2", h.Get("ConfigMap a").Object["data"].(map[string]any)["k"])
			want(h, configMap("b", "k=2"))
			settles(t, h, "a child that isn't wanted is deleted", "deleted ConfigMap a", status)
		})
	}
}

func TestRoll(t *testing.T) {
	t.Parallel()
	t.Run("desired 17: a child that isn't healthy stops a roll, also across a restart", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(pods, desired.RollingRecreate))
		h.Apply(parent(pod("a", "1"), pod("b", "1"), pod("c", "1")))
		h.RunUntilSettled()
		h.Hold("Pod a")
		want(h, pod("a", "2"), pod("b", "2"), pod("c", "2"))
		settles(t, h, "the first one", "deleted Pod a", "created Pod a", "configured CatSet tom status")
		h.Restart()
		settles(t, h, "the restart changes nothing")
		h.Release("Pod a")
		settles(t, h, "it goes on", "deleted Pod b", "created Pod b", "deleted Pod c", "created Pod c")
	})
	t.Run("desired 17: something else that is wanted mends what isn't healthy first", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(pods, desired.RollingRecreate))
		h.Apply(parent(pod("a", "1"), pod("b", "1")))
		h.RunUntilSettled()
		h.Hold("Pod b")
		want(h, pod("b", "broken"), pod("a", "broken"))
		settles(t, h, "the first one", "deleted Pod b", "created Pod b", "configured CatSet tom status")
		want(h, pod("a", "3"), pod("b", "3"))
		h.RunUntilSettled()
		assert.Equal(t, []string{"deleted Pod b", "created Pod b", "configured CatSet tom status"}, writes(h), "not a, which works")
		h.Release()
		settles(t, h, "it goes on", "deleted Pod a", "created Pod a")
	})
	t.Run("desired 17: the health is a condition", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(catHouses, desired.RollingInPlace, desired.Healthy("Fed", metav1.ConditionTrue)))
		h.Apply(parent(house("a", 1), house("b", 1)))
		h.RunUntilSettled()
		fed := func(name string, status string) {
			h.SetStatus("CatHouse "+name, map[string]any{"conditions": []any{map[string]any{"type": "Fed", "status": status, "reason": "A"}}})
		}
		fed("a", "True")
		want(h, house("a", 2), house("b", 2))
		settles(t, h, "b comes first, since nothing is lost", "configured CatHouse b", "configured CatSet tom status")
		fed("b", "False")
		settles(t, h, "it isn't fed")
		fed("b", "True")
		settles(t, h, "now it is", "configured CatHouse a")
	})
	t.Run("desired 8: a roll that waits holds up no deletion", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(pods, desired.RollingRecreate))
		h.Apply(parent(pod("a", "1"), pod("b", "1"), pod("c", "1")))
		h.RunUntilSettled()
		h.Hold("Pod a")
		want(h, pod("a", "2"), pod("b", "2"))
		h.RunUntilSettled()
		h.Gone("Pod c")
	})
}

// house is a wanted CatHouse.
func house(name string, size int64) map[string]any {
	return map[string]any{
		"apiVersion": "example.dev/v1", "kind": "CatHouse", "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": size},
	}
}
