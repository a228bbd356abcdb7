package desired_test

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sized is a parent whose size is a number.
type sized struct {
	Spec struct {
		Size int64 `json:"size"`
	} `json:"spec"`
}

// sizes wants one ConfigMap, and is finalized when it has gone. It reports errors, too.
type sizes struct{}

func (sizes) Sync(desired.Request[sized]) (desired.Response, error) {
	return desired.Response{Children: []any{configMap("a")}, Status: map[string]any{}}, nil
}

func (sizes) Finalize(r desired.Request[sized]) (desired.Response, error) {
	return desired.Response{Finalized: r.Children.Len() == 0}, nil
}

func (sizes) Failed(_ desired.Request[sized], err error) any {
	return map[string]any{"error": err.Error()}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*reconciletest.Harness, *events) {
		all := &events{}
		h := reconciletest.Drive(t, desired.New(catSets, sizes{}, desired.Child(configMaps, desired.InPlace)), reconciletest.Events(all))
		h.Apply(parent())
		h.RunUntilSettled()
		h.Exists("ConfigMap a")
		resize(h, "large")
		return h, all
	}
	t.Run("desired 78: a parent that the type can't hold is reported in a condition, until it is corrected", func(t *testing.T) {
		t.Parallel()
		h, events := begin(t)
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "spec.size")
		assert.True(t, request.IsPermanent(err))
		c := h.Condition("CatSet tom", desired.ConditionUnreadable)
		assert.Equal(t, []string{"True", desired.ReasonTypeDoesNotMatch}, []string{string(c.Status), c.Reason})
		assert.Contains(t, c.Message, "CatSet test/tom: spec.size: desired_test.sized can't hold a string there")
		assert.Equal(t, h.Get("CatSet tom").GetGeneration(), c.ObservedGeneration)
		assert.Contains(t, events.since()[1], "Warning SyncFailed: CatSet test/tom: spec.size")
		h.Exists("ConfigMap a")
		settles(t, h, "it is written once")
		resize(h, int64(1))
		settles(t, h, "the condition goes", statusWritten)
		assert.Empty(t, h.Condition("CatSet tom", desired.ConditionUnreadable))
	})
	t.Run("desired 78: its deletion waits, and says for what", func(t *testing.T) {
		t.Parallel()
		h, _ := begin(t)
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		h.Exists("CatSet tom", "ConfigMap a")
		assert.Contains(t, h.Condition("CatSet tom", desired.ConditionUnreadable).Message,
			"its deletion waits until that is corrected, or the finalizer operkit.dev/operkit is removed")
		resize(h, int64(1))
		h.RunUntilSettled()
		h.Gone("CatSet tom", "ConfigMap a")
	})
	t.Run("desired 78: it gets no finalizer before it can be read, so that it can be deleted", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.Drive(t, desired.New(catSets, sizes{}, desired.Child(configMaps, desired.InPlace)))
		p := parent()
		p.Object["spec"] = map[string]any{"size": "large"}
		h.Apply(p)
		settles(t, h, "only the condition", statusWritten)
		assert.Empty(t, h.Get("CatSet tom").GetFinalizers())
		assert.NotContains(t, h.Condition("CatSet tom", desired.ConditionUnreadable).Message, "deletion")
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		h.Gone("CatSet tom")
	})
	t.Run("desired 78: it goes, too, if the type was corrected and not the parent", func(t *testing.T) {
		t.Parallel()
		h, _ := begin(t)
		resize(h, int64(1))
		h.RunUntilSettled()
		h.SetStatus("CatSet tom", map[string]any{"conditions": []any{
			map[string]any{"type": desired.ConditionUnreadable, "status": "True", "reason": desired.ReasonTypeDoesNotMatch},
		}})
		h.Bring("CatSet tom")
		h.RunUntilSettled()
		assert.Empty(t, h.Condition("CatSet tom", desired.ConditionUnreadable))
	})
	t.Run("desired 78: it goes when the parent is corrected, also if its function fails", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.Drive(t, desired.New(catSets, desired.Funcs[sized]{OnSync: func(desired.Request[sized]) (desired.Response, error) {
			return desired.Response{}, errors.New("no cats today")
		}}, desired.Child(configMaps, desired.InPlace)))
		h.Apply(parent())
		resize(h, "large")
		settles(t, h, "only the condition", statusWritten)
		resize(h, int64(1))
		for _, want := range [][]string{{statusWritten}, nil} {
			_, err := h.Reconcile("CatSet tom")
			require.EqualError(t, err, "no cats today")
			assert.Equal(t, want, writes(h))
			assert.Empty(t, h.Condition("CatSet tom", desired.ConditionUnreadable))
		}
	})
	t.Run("desired 78: a condition of others with that type stays", func(t *testing.T) {
		t.Parallel()
		h, _ := begin(t)
		resize(h, int64(1))
		h.SetStatus("CatSet tom", map[string]any{"conditions": []any{map[string]any{"type": desired.ConditionUnreadable, "status": "True", "reason": "Theirs"}}})
		h.RunUntilSettled()
		assert.Equal(t, metav1.ConditionTrue, h.Condition("CatSet tom", desired.ConditionUnreadable).Status)
	})
}

func resize(h *reconciletest.Harness, size any) {
	h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.Object["spec"] = map[string]any{"size": size} })
}
