package conditions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
)

func TestKubectlWaitsForWhatWasSet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		form   status.PatchForm
		reason string
	}{
		{status.ServerSideApply, "the conditions are a map by type"},
		{status.MergePatch, "the list is sent as a whole"},
	} {
		t.Run(string(row.form)+": "+row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mark := w.env.Mark(t)
			foreign := metav1.Condition{Type: "Billed", Status: metav1.ConditionTrue, Reason: "Paid", Message: "not ours"}
			require.True(t, w.set(t, status.MergePatch, foreign))
			assert.False(t, w.says(t, "Ready"), "nobody has said so")

			waiting := w.await(t.Context())
			require.True(t, w.set(t, row.form, metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Starting"}))
			assert.False(t, w.says(t, "Ready"))
			assert.Equal(t, readiness.InProgress, readiness.Of(w.get(t)).State)
			up := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up", Message: "it works"}
			require.True(t, w.set(t, row.form, up))
			seen := <-waiting
			require.NoError(t, seen.err)
			verdict := readiness.Of(seen.object)
			assert.True(t, verdict.Ready() && verdict.Reason == "Up" && verdict.Message == "it works", "%v", verdict)
			assert.False(t, w.set(t, row.form, up), "nothing is new")

			assert.Equal(t, map[string]int{"patch widgets.integration.operkit.dev/status": 3}, w.env.CallsSince(t, mark, w.env.Self).Writes().Count())
			kept, ok := status.Conditions(w.get(t)).Get("Billed")
			assert.True(t, ok && kept.Message == foreign.Message, "the condition of another one: %v", kept)
		})
	}
}

func TestAnOldGenerationWakesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"}
	up.LastTransitionTime = metav1.NewTime(time.Date(2024, 5, 17, 8, 30, 0, 0, time.UTC))
	require.True(t, w.set(t, status.ServerSideApply, up))
	require.True(t, w.says(t, "Ready"))

	_, err := w.client.Patch(t.Context(), "it", types.MergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.False(t, w.says(t, "Ready"), "the condition is about generation 1")
	assert.Equal(t, "LatestGenerationNotObserved", readiness.Of(w.get(t)).Reason)

	up.LastTransitionTime = metav1.Time{}
	require.True(t, w.set(t, status.ServerSideApply, up))
	assert.True(t, w.says(t, "Ready"))
	widget := w.get(t)
	assert.True(t, readiness.Of(widget).Ready())
	again, _ := status.Conditions(widget).Get("Ready")
	assert.Equal(t, int64(2), again.ObservedGeneration)
	assert.Equal(t, 2024, again.LastTransitionTime.Year(), "it was True all the time")
}

func TestRemovingWhatIsHeld(t *testing.T) {
	t.Parallel()
	up := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Up"}
	down := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Down"}
	for _, row := range []struct {
		reason string
		forms  []status.PatchForm
		remove status.PatchForm
		want   error
	}{
		{"what was applied only", []status.PatchForm{status.ServerSideApply}, status.ServerSideApply, nil},
		{"what was merged and then applied", []status.PatchForm{status.MergePatch, status.ServerSideApply}, status.ServerSideApply, status.ErrHeldByOthers},
		{"what was merged only", []status.PatchForm{status.MergePatch}, status.ServerSideApply, status.ErrHeldByOthers},
		{"a merge removes what both wrote", []status.PatchForm{status.MergePatch, status.ServerSideApply}, status.MergePatch, nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, form := range row.forms {
				require.True(t, w.set(t, form, []metav1.Condition{up, down}[i]))
			}
			before := w.get(t)
			after := before.DeepCopy()
			require.True(t, status.Conditions(after).Remove("Ready"))
			patch, err := status.Patch(before, after, row.remove, "Ready")
			require.ErrorIs(t, err, row.want)
			if row.want == nil {
				w.send(t, row.remove, patch)
			}
			_, present := status.Conditions(w.get(t)).Get("Ready")
			assert.Equal(t, row.want != nil, present)
		})
	}
}
