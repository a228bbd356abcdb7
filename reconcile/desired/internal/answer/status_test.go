package answer

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func condition(conditionType, status, at string) fields {
	return fields{
		"type": conditionType, "status": status, "reason": "Because", "message": "m", "observedGeneration": int64(3), "lastTransitionTime": at,
	}
}

const (
	long  = "2029-01-01T00:00:00Z"
	today = "2030-01-02T03:04:05Z"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	type typed struct {
		Size       int                `json:"size"`
		Empty      *string            `json:"empty"`
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	}
	ready := metav1.Condition{Type: "Ready", Status: "True", Reason: "Because", Message: "m"}
	for _, row := range []struct {
		reason  string
		value   any
		present fields
		want    fields
		changed bool
	}{
		{"desired 10: the generation is set", fields{"a": "b"}, nil, fields{"a": "b", "observedGeneration": int64(3)}, true},
		{"desired 10: nothing differs", fields{"a": "b"}, fields{"a": "b", "observedGeneration": int64(3)}, fields{"a": "b", "observedGeneration": int64(3)}, false},
		{"desired 10: another generation", fields{"a": "b"}, fields{"a": "b", "observedGeneration": int64(2)}, fields{"a": "b", "observedGeneration": int64(3)}, true},
		{"desired 10: a field that isn't returned is removed", fields{}, fields{"a": "b", "observedGeneration": int64(3)}, fields{"observedGeneration": int64(3)}, true},
		{"desired 10: a struct, in which null is absent", typed{Size: 2}, fields{"size": int64(2), "observedGeneration": int64(3)}, fields{"size": int64(2), "observedGeneration": int64(3)}, false},
		{
			"desired 10: conditions of other types stay", typed{Conditions: []metav1.Condition{ready}},
			fields{"size": int64(0), "observedGeneration": int64(3), "conditions": []any{condition("Theirs", "False", long)}},
			fields{"size": int64(0), "observedGeneration": int64(3), "conditions": []any{condition("Theirs", "False", long), condition("Ready", "True", today)}}, true,
		},
		{
			"desired 10: the time of a condition stays with its status", typed{Conditions: []metav1.Condition{ready}},
			fields{"size": int64(0), "observedGeneration": int64(3), "conditions": []any{condition("Ready", "True", long)}},
			fields{"size": int64(0), "observedGeneration": int64(3), "conditions": []any{condition("Ready", "True", long)}}, false,
		},
		{
			"desired 10: and moves with it", typed{Conditions: []metav1.Condition{ready}},
			fields{"size": int64(0), "observedGeneration": int64(3), "conditions": []any{condition("Ready", "False", long)}},
			fields{"size": int64(0), "observedGeneration": int64(3), "conditions": []any{condition("Ready", "True", today)}}, true,
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			s, err := ReadStatus(row.value)
			require.NoError(t, err)
			before := runtime.DeepCopyJSON(row.present)
			next, changed, err := s.Over(row.present, 3, now)
			require.NoError(t, err)
			assert.Equal(t, row.want, next)
			assert.Equal(t, row.changed, changed)
			assert.Equal(t, before, row.present, "the present status isn't changed")
		})
	}
}

func TestStatusFaults(t *testing.T) {
	t.Parallel()
	for reason, value := range map[string]any{
		"desired 10: no object": 7, "desired 10: a list": []any{}, "desired 10: what JSON can't hold": fields{"a": math.Inf(1), "b": make(chan int)},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			_, err := ReadStatus(value)
			assert.Error(t, err)
		})
	}
	for reason, conditions := range map[string]any{
		"desired 10: conditions that are no list": "x", "desired 10: a condition without a type": []any{fields{"status": "True", "reason": "A"}},
		"desired 10: a condition that is none": []any{"x"}, "desired 10: a condition without a reason": []any{fields{"type": "A", "status": "True"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s, err := ReadStatus(fields{"conditions": conditions})
			require.NoError(t, err)
			_, _, err = s.Over(nil, 1, now)
			assert.ErrorContains(t, err, "status.conditions")
		})
	}
}
