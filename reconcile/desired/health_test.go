package desired_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// feed reports that a CatHouse is fed, with a note that makes the report a new one.
func feed(h *reconciletest.Harness, name, note string) {
	h.SetStatus("CatHouse "+name, map[string]any{
		"note": note, "conditions": []any{map[string]any{"type": "Fed", "status": "True", "reason": "A"}},
	})
}

// fedHouses is a parent with two houses of size 1, which are fed and have rested for a minute.
func fedHouses(t *testing.T) *reconciletest.Harness {
	t.Helper()
	h := drive(t, script{}, desired.Child(catHouses, desired.RollingInPlace, desired.Healthy("Fed", metav1.ConditionTrue)))
	h.Apply(parent(house("a", 1), house("b", 1)))
	h.RunUntilSettled()
	for _, size := range []int64{2, 3} { // so that their generation isn't the first one
		want(h, house("a", size), house("b", size))
		for _, name := range []string{"a", "b"} {
			h.RunUntilSettled()
			feed(h, name, "at first")
		}
		h.RunUntilSettled()
	}
	h.Advance(time.Minute)
	return h
}

func sizesOf(h *reconciletest.Harness) (all []any) {
	for _, name := range []string{"a", "b"} {
		all = append(all, h.Get("CatHouse " + name).Object["spec"].(map[string]any)["size"])
	}
	return all
}

func TestHealthyReasons(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason    string
		healthy   desired.ChildOption
		isHealthy bool
	}{
		{"desired 86: one of the reasons", desired.Healthy("Fed", metav1.ConditionTrue, "B", "A"), true},
		{"desired 86: another reason", desired.Healthy("Fed", metav1.ConditionTrue, "B"), false},
		{"desired 86: any status", desired.Healthy("Fed", ""), true},
		{"desired 86: any status with a reason", desired.Healthy("Fed", "", "A"), true},
		{"desired 86: another status", desired.Healthy("Fed", metav1.ConditionFalse, "A"), false},
		{"desired 86: a condition that isn't there", desired.Healthy("Brushed", ""), false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := drive(t, script{}, desired.Child(catHouses, desired.RollingInPlace, row.healthy))
			h.Apply(parent(house("a", 1), house("b", 1)))
			h.RunUntilSettled()
			feed(h, "a", "")
			feed(h, "b", "")
			h.RunUntilSettled()
			want(h, house("a", 2), house("b", 2))
			_, err := h.Reconcile("CatSet tom")
			require.NoError(t, err)
			second := int64(2) // what isn't healthy waits for nothing
			if row.isHealthy {
				second = 1
			}
			assert.Equal(t, []any{int64(2), second}, sizesOf(h))
		})
	}
}

func TestObservedHealth(t *testing.T) {
	t.Parallel()
	reconcile := func(t *testing.T, h *reconciletest.Harness) time.Duration {
		result, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		return result.RequeueAfter
	}
	t.Run("desired 63: a status that was written after the change counts at once", func(t *testing.T) {
		t.Parallel()
		h := fedHouses(t)
		want(h, house("a", 4), house("b", 4))
		assert.Positive(t, reconcile(t, h))
		assert.Equal(t, []any{int64(4), int64(3)}, sizesOf(h))
		feed(h, "a", "at the same moment")
		reconcile(t, h)
		assert.Equal(t, []any{int64(4), int64(4)}, sizesOf(h), "no time has passed")
	})
	t.Run("desired 63: a status that nobody writes holds up the roll for ten seconds", func(t *testing.T) {
		t.Parallel()
		h := fedHouses(t)
		want(h, house("a", 4), house("b", 4))
		assert.Equal(t, 10*time.Second, reconcile(t, h))
		h.Advance(9 * time.Second)
		assert.Equal(t, []any{int64(4), int64(3)}, sizesOf(h))
		h.Advance(time.Second)
		assert.Equal(t, []any{int64(4), int64(4)}, sizesOf(h))
	})
	t.Run("desired 63: after a restart nothing is known of the writes of the process before", func(t *testing.T) {
		t.Parallel()
		h := fedHouses(t)
		want(h, house("a", 4), house("b", 4))
		reconcile(t, h)
		h.Restart()
		assert.Equal(t, 10*time.Second, reconcile(t, h))
		assert.Equal(t, []any{int64(4), int64(3)}, sizesOf(h))
		h.Advance(10 * time.Second)
		assert.Equal(t, []any{int64(4), int64(4)}, sizesOf(h))
	})
	for name, restarts := range map[string]bool{
		"desired 63: a process that has waited for its leadership counts from the first reconcile":  true,
		"desired 63: a parent that another process has reconciled meanwhile counts from its return": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := fedHouses(t)
			want(h, house("a", 4), house("b", 4))
			reconcile(t, h)
			h.Leave("CatSet tom")
			if restarts {
				h.Restart()
			}
			h.Advance(time.Hour)
			h.Enter("CatSet tom")
			assert.Equal(t, 10*time.Second, reconcile(t, h))
			assert.Equal(t, []any{int64(4), int64(3)}, sizesOf(h), "the write before may be the latest")
			h.Advance(10 * time.Second)
			assert.Equal(t, []any{int64(4), int64(4)}, sizesOf(h))
		})
	}
	t.Run("desired 63: a child that hasn't changed since it was created reports its own health", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(catHouses, desired.RollingInPlace, desired.Healthy("Fed", metav1.ConditionTrue)))
		h.Apply(parent(house("a", 1), house("b", 1), house("c", 1)))
		h.RunUntilSettled()
		for _, name := range []string{"a", "b", "c"} {
			feed(h, name, "at first")
		}
		h.RunUntilSettled()
		h.Restart()
		want(h, house("a", 1), house("b", 2), house("c", 1))
		reconcile(t, h)
		assert.Equal(t, []any{int64(1), int64(2)}, sizesOf(h), "also after a restart")
	})
	t.Run("desired 63: a change of metadata alone makes no status old", func(t *testing.T) {
		t.Parallel()
		h := fedHouses(t)
		a, b := house("a", 3), house("b", 3)
		for _, one := range []map[string]any{a, b} {
			one["metadata"].(map[string]any)["labels"] = map[string]any{"colour": "red"}
		}
		want(h, a, b)
		assert.Zero(t, reconcile(t, h))
		assert.Equal(t, map[string]string{"colour": "red"}, h.Get("CatHouse b").GetLabels(), "both are changed")
	})
	t.Run("desired 63: the generation in the status counts, if it is there", func(t *testing.T) {
		t.Parallel()
		h := fedHouses(t)
		want(h, house("a", 4), house("b", 4))
		reconcile(t, h)
		h.Edit("CatHouse a", func(*unstructured.Unstructured) {})
		generation := h.Get("CatHouse a").GetGeneration()
		report := func(observed int64) {
			h.SetStatus("CatHouse a", map[string]any{
				"observedGeneration": observed, "conditions": []any{map[string]any{"type": "Fed", "status": "True", "reason": "A"}},
			})
		}
		report(generation - 1)
		reconcile(t, h)
		assert.Equal(t, []any{int64(4), int64(3)}, sizesOf(h), "a new status about the state before")
		report(generation)
		reconcile(t, h)
		assert.Equal(t, []any{int64(4), int64(4)}, sizesOf(h))
	})
}
