package conditions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
)

// gauge is an object whose conditions aren't those of meta/v1.
type gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Conditions []gaugeCondition `json:"conditions,omitempty"`
	} `json:"status,omitzero"`
}

type gaugeCondition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	Reason             string      `json:"reason,omitempty"`
	Severity           string      `json:"severity,omitempty"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitzero"`
}

// typed is the object in its Go type.
func (w *world) typed(t *testing.T) *gauge {
	t.Helper()
	var g gauge
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(w.get(t).Object, &g))
	return &g
}

func newGauge(t *testing.T) *world {
	t.Helper()
	return worldOf(t, "testdata/gauge.yaml", "Gauge", "gauges")
}

func readyOnly(t *testing.T) *status.Declaration {
	t.Helper()
	d, err := status.Declare(status.Declared{Type: "Ready"})
	require.NoError(t, err)
	return d
}

// end visits an object of which the work has come to nothing but good.
func end(t *testing.T, d *status.Declaration, object any, generation int64) (changed bool) {
	t.Helper()
	visit := d.Visit(generation)
	visit.Result("Ready", nil)
	changed, err := visit.End(time.Now(), object)
	require.NoError(t, err)
	return changed
}

func TestATypedObjectOfAnotherFormIsTaken(t *testing.T) {
	t.Parallel()
	for _, form := range []status.PatchForm{status.ServerSideApply, status.MergePatch} {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			w := newGauge(t)
			w.send(t, status.MergePatch, map[string]any{"status": map[string]any{"conditions": []any{
				map[string]any{"type": "Ready", "status": "False", "severity": "Warning"},
				map[string]any{"type": "Theirs", "status": "Maybe", "severity": "Info"},
			}}})
			before := w.typed(t)
			after := w.typed(t)
			require.True(t, end(t, readyOnly(t), after, after.Generation))
			patch, err := status.Patch(before, after, form, "Ready")
			require.NoError(t, err)
			w.send(t, form, patch)
			assert.True(t, w.says(t, "Ready"), "kubectl wait")

			g := w.typed(t)
			require.Len(t, g.Status.Conditions, 2)
			assert.Equal(t, gaugeCondition{"Theirs", "Maybe", "", "Info", metav1.Time{}}, g.Status.Conditions[1], "the condition of another one")
			assert.Equal(t, "Succeeded", g.Status.Conditions[0].Reason)
			assert.Equal(t, "Warning", g.Status.Conditions[0].Severity, "a field of another one")
			assert.False(t, end(t, readyOnly(t), g, g.Generation), "nothing is new")
		})
	}
}

func TestADocumentOfAnotherForm(t *testing.T) {
	t.Parallel()
	visited := func(t *testing.T, w *world, d *status.Declaration, generation int64) (before, after *unstructured.Unstructured) {
		before = w.get(t)
		after = before.DeepCopy()
		require.True(t, end(t, d, after, generation))
		return before, after
	}
	for _, row := range []struct {
		reason     string
		d          *status.Declaration
		generation int64
		field      string
	}{
		{"what Set writes has a message", readyOnly(t).ConditionsOnly(), 0, `.status.conditions[type="Ready"].message`},
		{"the generation of the visit is that of its conditions", readyOnly(t).ConditionsOnly(), 1, `.status.conditions[type="Ready"].`},
		{"and that of the status", readyOnly(t), 1, `.status.observedGeneration`},
	} {
		t.Run("an apply is refused: "+row.reason, func(t *testing.T) {
			t.Parallel()
			w := newGauge(t)
			before, after := visited(t, w, row.d, row.generation)
			patch, err := status.Patch(before, after, status.ServerSideApply, "Ready")
			require.NoError(t, err)
			err = w.try(t, status.ServerSideApply, patch)
			require.ErrorContains(t, err, "field not declared in schema")
			require.ErrorContains(t, err, row.field)
		})
	}
	t.Run("a merge is taken, and with generation 0 and conditions only it is taken once", func(t *testing.T) {
		t.Parallel()
		w := newGauge(t)
		d := readyOnly(t).ConditionsOnly()
		before, after := visited(t, w, d, 0)
		patch, err := status.Patch(before, after, status.MergePatch, "Ready")
		require.NoError(t, err)
		w.send(t, status.MergePatch, patch)
		assert.True(t, w.says(t, "Ready"))
		assert.False(t, end(t, d, w.get(t), 0), "what the API server dropped isn't missed")
	})
}
