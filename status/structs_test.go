package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

// plainStatus and those below are typed objects without accessors.
type plainStatus struct {
	Phase      string             `json:"phase,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type plainObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            plainStatus `json:"status,omitempty"`
}

type pointerObject struct {
	State *plainStatus `json:"status,omitempty"`
}

type inlineObject struct {
	Status struct {
		status.Fields `json:",inline"`
		Own           string `json:"own"`
	} `json:"status"`
}

// oldCondition is a condition as the types of Kubernetes itself have them.
type oldCondition struct {
	Type               conditionType          `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	LastProbeTime      string                 `json:"lastProbeTime,omitempty"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

type conditionType string

type oldObject struct {
	Status struct {
		Conditions []oldCondition `json:"conditions,omitempty"`
	} `json:"status"`
}

// bareCondition holds the least that a condition may.
type bareCondition struct {
	Type       string       `json:"type"`
	Status     string       `json:"status"`
	Transition *metav1.Time `json:"lastTransitionTime"`
}

type bareObject struct {
	Status *struct {
		Conditions []bareCondition `json:"conditions"`
	} `json:"status"`
}

func TestStructs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		object any
	}{
		{"a field", &plainObject{}},
		{"a pointer that is nil", &pointerObject{}},
		{"an inlined struct", &inlineObject{}},
		{"conditions of another type", &oldObject{}},
		{"conditions without reason and message", &bareObject{}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(c.object)
			assert.True(t, conditions.IsUnknown("Ready"))
			assert.False(t, conditions.Remove("Ready"))
			require.True(t, conditions.Set(now, isReady("False", "A", "m")))
			require.True(t, conditions.Set(now, metav1.Condition{Type: "Other", Status: "True", Reason: "R"}))
			require.False(t, conditions.Set(now.AddDate(1, 0, 0), isReady("False", "A", "m")), "said already")
			got, found := conditions.Get("Ready")
			require.True(t, found)
			assert.Equal(t, nowText, got.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z07:00"), "status 28: whole seconds, UTC")
			require.True(t, conditions.Set(now.AddDate(1, 0, 0), isReady("True", "B", "")))
			assert.True(t, conditions.IsTrue("Ready"))
			assert.Len(t, conditions.List(), 2)
			require.True(t, conditions.Remove("Ready"))
			assert.True(t, conditions.IsUnknown("Ready"))
			assert.True(t, conditions.IsTrue("Other"))
			assert.False(t, conditions.Set(now, metav1.Condition{Type: "no type", Status: "True", Reason: "R"}))
			require.ErrorIs(t, conditions.Err(), status.ErrInvalidType)
		})
	}
}

func TestStructsKeepWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	object := &oldObject{}
	object.Status.Conditions = []oldCondition{
		{Type: "", Status: "True", LastProbeTime: "nameless"},
		{Type: "Ready", Status: "False", LastProbeTime: "old", Reason: "Old"},
		{Type: "Theirs", Status: "Maybe", LastProbeTime: "theirs"},
		{Type: "Ready", Status: "False", LastProbeTime: "new", Reason: "New", LastTransitionTime: metav1.NewTime(now)},
	}
	shared := object.Status.Conditions
	require.True(t, status.Conditions(object).Set(now, isReady("False", "Mine", "m")))
	assert.Equal(t, []oldCondition{
		{Type: "", Status: "True", LastProbeTime: "nameless"},
		{Type: "Ready", Status: "False", LastProbeTime: "new", Reason: "Mine", Message: "m", LastTransitionTime: metav1.NewTime(now)},
		{Type: "Theirs", Status: "Maybe", LastProbeTime: "theirs"},
	}, object.Status.Conditions, "one entry per type, on the base of the newest, with its unknown fields; others as they were")
	assert.Equal(t, "Old", shared[1].Reason, "a slice that is shared isn't written to")
	require.True(t, status.Conditions(object).Remove("Theirs"))
	assert.Equal(t, "nameless", object.Status.Conditions[0].LastProbeTime)
}

func TestStructsWithoutConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		object any
	}{
		{"a struct by value", plainObject{}},
		{"a nil struct", (*plainObject)(nil)},
		{"no status", &struct{ Spec string }{}},
		{"a status that is no struct", &struct {
			Status string `json:"status"`
		}{}},
		{"a status without conditions", &struct {
			Status struct{} `json:"status"`
		}{}},
		{"conditions that are no list", &struct {
			Status struct {
				Conditions string `json:"conditions"`
			} `json:"status"`
		}{}},
		{"elements that are no conditions", &struct {
			Status struct {
				Conditions []string `json:"conditions"`
			} `json:"status"`
		}{}},
		{"elements without a status", &struct {
			Status struct {
				Conditions []struct {
					Type string `json:"type"`
				} `json:"conditions"`
			} `json:"status"`
		}{}},
		{"a pointer to no struct", new(string)},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(c.object)
			assert.False(t, conditions.Set(now, isReady("True", "A", "")))
			require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
		})
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	list := `[{"type":"Old","status":"True","reason":"R","observedGeneration":1},{"type":"Fresh","status":"True","reason":"R","observedGeneration":2},{"type":"Silent","status":"True"}]`
	whole := document(t, `{"metadata":{"generation":2},"status":{"conditions":`+list+`}}`)
	typed := &plainObject{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	typed.Status.Conditions = status.Conditions(whole).List()
	for name, object := range map[string]any{"map": whole, "typed": typed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(object)
			assert.True(t, conditions.IsStale("Old"), "status 24: observed at an older generation")
			assert.False(t, conditions.IsStale("Fresh"))
			assert.False(t, conditions.IsStale("Silent"), "nothing is said about a generation")
			assert.False(t, conditions.IsStale("Absent"))
			assert.Equal(t, "R", conditions.Reason("Old"))
			assert.Empty(t, conditions.Reason("Silent"))
			assert.Empty(t, conditions.Reason("Absent"))
			require.NoError(t, conditions.Err())
		})
	}
	t.Run("a bare list has no generation", func(t *testing.T) {
		t.Parallel()
		assert.False(t, status.Conditions(&typed.Status.Conditions).IsStale("Old"))
	})
	t.Run("nothing at all", func(t *testing.T) {
		t.Parallel()
		assert.False(t, status.Conditions(nil).IsStale("Old"))
		assert.Empty(t, status.Conditions(nil).Reason("Old"))
		assert.Empty(t, status.Conditions(nil).List())
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	for name, obj := range kinds(t,
		isReady("False", "Old", ""), metav1.Condition{Type: "Other", Status: "Maybe"}, metav1.Condition{Status: "True"},
		metav1.Condition{Type: "Ready", Status: "True", Reason: "New", LastTransitionTime: metav1.NewTime(now)},
	) {
		t.Run("status 19: one of each type, the newest, "+name, func(t *testing.T) {
			t.Parallel()
			list := status.Conditions(obj).List()
			require.Len(t, list, 2)
			assert.Equal(t, []string{"Ready", "New", "Other"}, []string{list[0].Type, list[0].Reason, list[1].Type})
		})
	}
}

// goTime, textTime and oddTime are conditions with fields of other types.
type goTime struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             *string   `json:"reason,omitempty"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

type textTime struct {
	Type               string  `json:"type"`
	Status             string  `json:"status"`
	Message            *string `json:"message,omitempty"`
	LastTransitionTime *string `json:"lastTransitionTime"`
	ObservedGeneration *int32  `json:"observedGeneration,omitempty"`
}

type oddTime struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	LastTransitionTime []int  `json:"lastTransitionTime"`
}

type holding[T any] struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		ObservedGeneration *int64 `json:"observedGeneration,omitempty"`
		Conditions         []T    `json:"conditions"`
	} `json:"status"`
}

func TestFieldsOfOtherTypes(t *testing.T) {
	t.Parallel()
	c := metav1.Condition{Type: "Ready", Status: "True", Reason: "Up", Message: "m", ObservedGeneration: 3}
	reason, earlier := "Down", earlierText
	ofGo := &holding[goTime]{}
	ofGo.Status.Conditions = []goTime{{Type: "Ready", Status: "False", Reason: &reason, LastTransitionTime: now.AddDate(-1, 0, 0)}}
	ofText := &holding[textTime]{}
	ofText.Status.Conditions = []textTime{{Type: "Ready", Status: "False", LastTransitionTime: &earlier}}
	for _, row := range []struct {
		reason string
		object any
		list   func() any
		want   string
	}{
		{"status 28: a time.Time and a reason by pointer", ofGo, func() any { return ofGo.Status.Conditions }, `[{"type":"Ready","status":"True","reason":"Up","lastTransitionTime":"` + nowText + `"}]`},
		{"status 28: all by pointers, the time as text", ofText, func() any { return ofText.Status.Conditions }, `[{"type":"Ready","status":"True","message":"m","lastTransitionTime":"` + nowText + `","observedGeneration":3}]`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			conditions := status.Conditions(row.object)
			before, _ := conditions.Get("Ready")
			require.False(t, before.LastTransitionTime.IsZero())
			require.True(t, conditions.Set(now, c))
			require.NoError(t, conditions.Err())
			assert.JSONEq(t, row.want, text(t, row.list()))
			assert.False(t, conditions.Set(now.AddDate(1, 0, 0), c), "said already")
			assert.True(t, conditions.Set(now, metav1.Condition{Type: "Ready", Status: "True", Reason: "Up2", Message: "2", ObservedGeneration: 4}))
			after, _ := conditions.Get("Ready")
			assert.Equal(t, nowText, after.LastTransitionTime.UTC().Format(time.RFC3339))
		})
	}
	t.Run("what is pointed to may be shared, it isn't written to", func(t *testing.T) {
		t.Parallel()
		shared := "Down"
		obj := &holding[goTime]{}
		obj.Status.Conditions = []goTime{{Type: "Ready", Status: "False", Reason: &shared}}
		require.True(t, status.Conditions(obj).Set(now, c))
		assert.Equal(t, "Down", shared)
	})
	t.Run("the object's observed generation by pointer", func(t *testing.T) {
		t.Parallel()
		d, err := status.Declare(status.Declared{Type: "Ready"})
		require.NoError(t, err)
		obj := &holding[metav1.Condition]{}
		for _, want := range []bool{true, false} {
			visit := d.Visit(4)
			visit.Result("Ready", nil)
			changed, err := visit.End(now, obj)
			require.NoError(t, err)
			require.Equal(t, want, changed)
		}
		assert.EqualValues(t, 4, *obj.Status.ObservedGeneration)
	})
	t.Run("what can't be written is refused, and read", func(t *testing.T) {
		t.Parallel()
		obj := &holding[oddTime]{}
		obj.Status.Conditions = []oddTime{{Type: "Ready", Status: "False", LastTransitionTime: []int{1}}}
		conditions := status.Conditions(obj)
		assert.True(t, conditions.IsFalse("Ready"))
		assert.False(t, conditions.Set(now, c))
		require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
		assert.ErrorContains(t, conditions.Err(), "lastTransitionTime")
		assert.True(t, conditions.IsFalse("Ready"), "nothing is written by halves")
	})
}

// hiddenPlace has its conditions behind a pointer that nobody can set.
type hiddenPlace struct {
	Status struct{ *place } `json:"status"`
}

type place struct {
	Conditions []metav1.Condition `json:"conditions"`
}

func TestAPlaceThatCantBeMade(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 40} {
		obj, other := &hiddenPlace{}, []metav1.Condition{}
		for i := range count {
			other = append(other, metav1.Condition{Type: fmt.Sprintf("T%d", i), Status: "True", Reason: "R"})
		}
		conditions := status.Conditions(obj)
		assert.False(t, conditions.Merge(now, status.Conditions(&other)))
		require.ErrorIs(t, conditions.Err(), status.ErrUnsupportedObject)
		assert.Nil(t, obj.Status.place)
		obj.Status.place = &place{}
		assert.True(t, status.Conditions(obj).Merge(now, status.Conditions(&other)), "there is one")
	}
}
