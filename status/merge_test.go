package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	child := document(t, `{"status":{"conditions":[
		{"type":"Ready","status":"True","reason":"Up","observedGeneration":7,"lastTransitionTime":"`+earlierText+`"},
		{"type":"Bound","status":"true"},{"type":"Odd","status":"Maybe","reason":"not one"}]}}`)
	for name, obj := range kinds(t, isReady("False", "A", ""), metav1.Condition{Type: "Own", Status: "True", Reason: "R"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := text(t, child)
			conditions := status.Conditions(obj)
			require.True(t, conditions.Merge(now, status.Conditions(child)))
			require.NoError(t, conditions.Err())
			assert.Equal(t, before, text(t, child), "the other object isn't changed")
			assert.Equal(t, []string{"Ready", "Own", "Bound", "Odd"}, types(obj), "same types are overwritten, others kept")
			ready, _ := conditions.Get("Ready")
			assert.Equal(t, earlierText, ready.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z"), "the transition is the child's")
			assert.Zero(t, ready.ObservedGeneration, "a generation of another object says nothing here")
			assert.Equal(t, "Unspecified", conditions.Reason("Bound"))
			assert.Equal(t, "Unspecified", conditions.Reason("Odd"))
			assert.True(t, conditions.IsUnknown("Odd"))
			assert.False(t, conditions.Merge(now, status.Conditions(child)), "nothing new")
			if accessor, ok := obj.(*typed); ok {
				assert.Equal(t, 1, accessor.sets, "one call for all of them")
			}
		})
	}
	t.Run("chosen types only", func(t *testing.T) {
		t.Parallel()
		var list []metav1.Condition
		require.True(t, status.Conditions(&list).Merge(now, status.Conditions(child), "Bound", "Absent"))
		assert.Equal(t, []string{"Bound"}, types(&list))
	})
	t.Run("an invalid type, and nothing is merged", func(t *testing.T) {
		t.Parallel()
		var list []metav1.Condition
		conditions := status.Conditions(&list)
		require.False(t, conditions.Merge(now, status.Conditions(&[]metav1.Condition{isReady("True", "A", ""), {Type: "not a type", Status: "True"}})))
		require.ErrorIs(t, conditions.Err(), status.ErrInvalidType)
		assert.Empty(t, list)
	})
	t.Run("objects that hold none", func(t *testing.T) {
		t.Parallel()
		conditions := status.Conditions(object{})
		require.False(t, conditions.Merge(now, status.Conditions(nil)))
		require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
		conditions = status.Conditions(7)
		require.False(t, conditions.Merge(now, status.Conditions(child)))
		require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
	})
}

func TestSummary(t *testing.T) {
	t.Parallel()
	parts := []status.Declared{{Type: "A"}, {Type: "B"}, {Type: "Bad", Negative: true}}
	for _, c := range []struct {
		reason, conditions string
		want               metav1.Condition
	}{
		{
			"all good, what is negative may be absent", `{"type":"A","status":"True"},{"type":"B","status":"True"}`,
			metav1.Condition{Type: "All", Status: "True", Reason: "AllGood"},
		},
		{
			"bad before unknown, in the order of the parts", `{"type":"Bad","status":"True","reason":"X"},{"type":"B","status":"False","reason":"Broken","message":"m"}`,
			metav1.Condition{Type: "All", Status: "False", Reason: "Broken", Message: "B: m"},
		},
		{
			"a negative one is bad when True", `{"type":"A","status":"True"},{"type":"B","status":"True"},{"type":"Bad","status":"True"}`,
			metav1.Condition{Type: "All", Status: "False", Reason: "Unspecified", Message: "Bad"},
		},
		{
			"absent is unknown", `{"type":"A","status":"True"},{"type":"Bad","status":"False"}`,
			metav1.Condition{Type: "All", Status: "Unknown", Reason: "Missing", Message: "B: there is no such condition"},
		},
		{
			"status 24: stale is unknown", `{"type":"A","status":"True","observedGeneration":1},{"type":"B","status":"True"}`,
			metav1.Condition{Type: "All", Status: "Unknown", Reason: "Stale", Message: "A: the condition describes an older generation"},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			obj := document(t, `{"metadata":{"generation":2},"status":{"conditions":[`+c.conditions+`]}}`)
			before := text(t, obj)
			assert.Equal(t, c.want, status.Conditions(obj).Summary("All", parts...))
			assert.Equal(t, before, text(t, obj))
		})
	}
	t.Run("of nothing", func(t *testing.T) {
		t.Parallel()
		assert.EqualValues(t, "True", status.Conditions(object{}).Summary("All").Status)
	})
}

func TestMergeOfNothing(t *testing.T) {
	t.Parallel()
	conditions := status.Conditions(object{})
	assert.False(t, conditions.Merge(now, nil))
	require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
}
