package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
)

// kinds gives the same conditions in each form that Conditions takes.
func kinds(t *testing.T, conditions ...metav1.Condition) map[string]any {
	list := make([]any, 0, len(conditions))
	for _, c := range conditions {
		entry := object{"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message}
		if !c.LastTransitionTime.IsZero() {
			entry["lastTransitionTime"] = c.LastTransitionTime.UTC().Format(time.RFC3339)
		}
		list = append(list, entry)
	}
	whole := func() object { return document(t, text(t, object{"status": object{"conditions": list}})) }
	bare := append([]metav1.Condition(nil), conditions...)
	return map[string]any{
		"unstructured": &unstructured.Unstructured{Object: whole()},
		"map":          whole(),
		"list":         &bare,
		"accessor":     &typed{conditions: append([]metav1.Condition(nil), conditions...)},
	}
}

func TestConditionsGet(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	later := metav1.NewTime(at.AddDate(1, 0, 0))
	for name, obj := range kinds(t,
		metav1.Condition{Type: "Ready", Status: "False", Reason: "Old", Message: "m", LastTransitionTime: at},
		metav1.Condition{Type: "Other", Status: "True", Reason: "R"},
		metav1.Condition{Type: "Ready", Status: "True", Reason: "New", Message: "n", LastTransitionTime: later},
		metav1.Condition{Type: "Odd", Status: "Yes", Reason: "R"},
	) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(obj)
			t.Run("status 19: the newest of a type decides", func(t *testing.T) {
				c, ok := conditions.Get("Ready")
				require.True(t, ok)
				assert.True(t, later.Time.Equal(c.LastTransitionTime.Time))
				c.LastTransitionTime = metav1.Time{}
				assert.Equal(t, metav1.Condition{Type: "Ready", Status: "True", Reason: "New", Message: "n"}, c)
			})
			t.Run("status 11: an absent one is empty", func(t *testing.T) {
				c, ok := conditions.Get("Absent")
				assert.False(t, ok)
				assert.Zero(t, c)
			})
			t.Run("status 20: True, False and the rest", func(t *testing.T) {
				assert.Equal(t, []bool{true, false, false}, is(conditions, "Ready"))
				assert.Equal(t, []bool{false, false, true}, is(conditions, "Odd"), "a text that isn't known")
				assert.Equal(t, []bool{false, false, true}, is(conditions, "Absent"), "absence is Unknown")
			})
			require.NoError(t, conditions.Err())
		})
	}
}

func is(c *status.ConditionSet, conditionType string) []bool {
	return []bool{c.IsTrue(conditionType), c.IsFalse(conditionType), c.IsUnknown(conditionType)}
}

func TestConditionsTolerance(t *testing.T) {
	t.Parallel()
	const wanted = `{"status":{"conditions":[{"lastTransitionTime":"` + nowText + `","message":"","reason":"Stable","status":"True","type":"Ready"}]}}`
	for _, c := range []struct{ reason, object, want string }{
		{"no status", `{}`, wanted},
		{"status null", `{"status":null}`, wanted},
		{"status a list", `{"status":[1]}`, wanted},
		{"status a string", `{"status":"fine"}`, wanted},
		{"status a number", `{"status":7}`, wanted},
		{"conditions null", `{"status":{"conditions":null}}`, wanted},
		{"conditions a map", `{"status":{"conditions":{"Ready":"True"}}}`, wanted},
		{"conditions a string", `{"status":{"conditions":"Ready"}}`, wanted},
		{"elements null, a list, a number", `{"status":{"conditions":[null,[],7]}}`, wanted},
		{
			"status W2: an entry without a type stays, it is somebody's",
			`{"status":{"conditions":[null,{"status":"True"}],"phase":"x"}}`,
			`{"status":{"conditions":[{"status":"True"},{"lastTransitionTime":"` + nowText + `","message":"","reason":"Stable","status":"True","type":"Ready"}],"phase":"x"}}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			obj := document(t, c.object)
			conditions := status.Conditions(obj)
			_, ok := conditions.Get("Ready")
			assert.False(t, ok)
			assert.False(t, conditions.Remove("Ready"), "nothing to remove")
			assert.Equal(t, c.object, text(t, obj), "neither reading nor a removal of nothing writes")
			assert.True(t, conditions.Set(now, isReady("True", "Stable", "")))
			assert.Equal(t, c.want, text(t, obj))
			assert.False(t, conditions.Set(now.Add(time.Hour), isReady("True", "Stable", "")), "said already")
			require.NoError(t, conditions.Err())
		})
	}
	t.Run("nil maps inside", func(t *testing.T) {
		t.Parallel()
		obj := object{"status": object(nil)}
		assert.True(t, status.Conditions(obj).Set(now, isReady("True", "Stable", "")))
		assert.Equal(t, wanted, text(t, obj))
	})
	t.Run("an unstructured object without content gets some", func(t *testing.T) {
		t.Parallel()
		obj := &unstructured.Unstructured{}
		assert.True(t, status.Conditions(obj).IsUnknown("Ready"))
		assert.True(t, status.Conditions(obj).Set(now, isReady("True", "Stable", "")))
		assert.Equal(t, wanted, text(t, obj.Object))
	})
	t.Run("status W1: a time without zone, and under the old key", func(t *testing.T) {
		t.Parallel()
		obj := document(t, `{"status":{"conditions":[{"type":"Ready","status":true,"lastTransactionTime":"2024-01-01T00:00:00.123456","observedGeneration":3.0}]}}`)
		c, ok := status.Conditions(obj).Get("Ready")
		require.True(t, ok)
		assert.Equal(t, metav1.Condition{
			Type: "Ready", Status: "True", ObservedGeneration: 3,
			LastTransitionTime: metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 123456000, time.UTC)),
		}, c)
	})
}

func TestConditionsUnsupported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		object any
		names  string
	}{
		{"nil", nil, "<nil>"},
		{"a nil unstructured object", (*unstructured.Unstructured)(nil), "nil *unstructured.Unstructured"},
		{"a nil map can't be written to", object(nil), "nil map[string]interface {}"},
		{"a nil list", (*[]metav1.Condition)(nil), "nil *[]v1.Condition"},
		{"a nil typed object", (*typed)(nil), "nil *status_test.typed"},
		{"a type that nobody knows", 7, "int"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			for name, call := range map[string]func(*status.ConditionSet){
				"Get":    func(s *status.ConditionSet) { _, ok := s.Get("Ready"); assert.False(t, ok) },
				"Is":     func(s *status.ConditionSet) { assert.Equal(t, []bool{false, false, true}, is(s, "Ready")) },
				"Set":    func(s *status.ConditionSet) { assert.False(t, s.Set(now, isReady("True", "Stable", ""))) },
				"Remove": func(s *status.ConditionSet) { assert.False(t, s.Remove("Ready")) },
			} {
				conditions := status.Conditions(c.object)
				call(conditions)
				require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject, name)
				assert.ErrorContains(t, conditions.Err(), "conditions of "+c.names+":", name)
			}
		})
	}
}

func TestFromBool(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []metav1.ConditionStatus{"True", "False"}, []metav1.ConditionStatus{status.FromBool(true), status.FromBool(false)})
}

func TestConditionsRemove(t *testing.T) {
	t.Parallel()
	for name, obj := range kinds(t, isReady("True", "A", ""), metav1.Condition{Type: "Other", Status: "True", Reason: "R"}, isReady("False", "B", "")) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(obj)
			assert.True(t, conditions.Remove("Ready"), "every entry of the type goes")
			assert.True(t, conditions.IsUnknown("Ready"))
			assert.True(t, conditions.IsTrue("Other"), "others stay")
			assert.False(t, conditions.Remove("Ready"))
			require.NoError(t, conditions.Err())
			if accessor, ok := obj.(*typed); ok {
				assert.Equal(t, 1, accessor.sets, "SetConditions is called for a removal only")
			}
		})
	}
	t.Run("an emptied list stays a list", func(t *testing.T) {
		t.Parallel()
		obj := document(t, `{"status":{"conditions":[{"type":"Ready"}]}}`)
		require.True(t, status.Conditions(obj).Remove("Ready"))
		assert.Equal(t, `{"status":{"conditions":[]}}`, text(t, obj))
	})
	t.Run("a slice that shares the list isn't changed", func(t *testing.T) {
		t.Parallel()
		list := []metav1.Condition{isReady("True", "A", ""), {Type: "Other"}}
		shared := list
		require.True(t, status.Conditions(&list).Remove("Ready"))
		assert.Equal(t, "Ready", shared[0].Type)
	})
}

// wrapper gives an unstructured object methods of its own.
type wrapper struct{ unstructured.Unstructured }

func TestWrappers(t *testing.T) {
	t.Parallel()
	w := &wrapper{}
	require.True(t, status.Conditions(w).Set(now, isReady("True", "Up", "")))
	require.NoError(t, status.Conditions(w).Err())
	assert.True(t, status.Conditions(w).IsTrue("Ready"))
	assert.True(t, status.Conditions(&w.Unstructured).IsTrue("Ready"), "it is in the object itself")
	_, err := status.Patch(w, w.DeepCopy(), status.ServerSideApply, "Ready")
	require.NoError(t, err)
}

// TestDocumentsMadeInGo holds lists of Go types where a decoder makes []any.
func TestDocumentsMadeInGo(t *testing.T) {
	t.Parallel()
	theirs := metav1.Condition{Type: "Theirs", Status: "True", Reason: "R", ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(now)}
	many := make([]metav1.Condition, 40)
	for i := range many {
		many[i] = metav1.Condition{Type: fmt.Sprintf("T%d", i), Status: "True", Reason: "R"}
	}
	for name, list := range map[string]func() any{
		"maps": func() any {
			return []map[string]any{{"type": "Theirs", "status": "True", "reason": "R", "observedGeneration": 2}}
		},
		"conditions": func() any { return []metav1.Condition{theirs} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := object{"status": object{"conditions": list()}}
			assert.True(t, status.Conditions(obj).IsTrue("Theirs"))
			require.True(t, status.Conditions(obj).Set(now, isReady("True", "Up", "")))
			assert.Equal(t, []string{"Theirs", "Ready"}, types(obj))
			assert.False(t, status.Conditions(obj).Set(now, isReady("True", "Up", "")), "said already")
			got, _ := status.Conditions(obj).Get("Theirs")
			assert.EqualValues(t, 2, got.ObservedGeneration)

			before := object{"conditions": list()}
			next, _ := update(t, own(status.ReadyStable, status.UpdatingStable), before)
			assert.True(t, status.Conditions(object{"status": next}).IsTrue("Theirs"))
			next["conditions"].([]any)[2].(object)["status"] = "scribble"
			assert.Equal(t, object{"conditions": list()}, before, "the input isn't mutated")
		})
	}
	t.Run("another type isn't overwritten", func(t *testing.T) {
		t.Parallel()
		for _, c := range [][]metav1.Condition{{isReady("True", "Up", "")}, many} {
			obj := object{"status": object{"conditions": []string{"a"}}}
			conditions := status.Conditions(obj)
			assert.False(t, conditions.Merge(now, status.Conditions(&c)))
			require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
			assert.Equal(t, []string{"a"}, obj["status"].(object)["conditions"])
		}
		obj := object{"status": object{"conditions": []string{}}}
		assert.True(t, status.Conditions(obj).Set(now, isReady("True", "Up", "")), "it holds nothing")
	})
}

func TestListByValue(t *testing.T) {
	t.Parallel()
	conditions := status.Conditions([]metav1.Condition{isReady("True", "A", "")})
	assert.True(t, conditions.IsTrue("Ready"))
	require.NoError(t, conditions.Err(), "it can be read")
	assert.False(t, conditions.Set(now, isReady("False", "B", "")))
	require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
	removing := status.Conditions([]metav1.Condition{isReady("True", "A", "")})
	assert.False(t, removing.Remove("Ready"))
	require.ErrorIs(t, removing.Err(), status.ErrUnsupportedObject)
}

// namedMetadata has its metadata in a field instead of embedding them.
type namedMetadata struct {
	Metadata *metav1.ObjectMeta `json:"metadata"`
	Status   plainStatus        `json:"status"`
}

func TestIsStaleWithoutMethods(t *testing.T) {
	t.Parallel()
	obj := &namedMetadata{Status: plainStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True", ObservedGeneration: 1}}}}
	assert.False(t, status.Conditions(obj).IsStale("Ready"), "no generation is known")
	obj.Metadata = &metav1.ObjectMeta{Generation: 5}
	assert.True(t, status.Conditions(obj).IsStale("Ready"), "status 24: by its JSON form")
	obj.Metadata.Generation = 1
	assert.False(t, status.Conditions(obj).IsStale("Ready"))
}
