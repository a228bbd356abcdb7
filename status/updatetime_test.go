package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status"
)

// moments are a condition type of a user's own, for each Go type that a time may have.
type (
	moments[T any] struct {
		Type               string      `json:"type"`
		Status             string      `json:"status"`
		Reason             string      `json:"reason"`
		Message            string      `json:"message"`
		LastTransitionTime metav1.Time `json:"lastTransitionTime"`
		LastUpdateTime     T           `json:"lastUpdateTime"`
	}
	stamped[T any] struct {
		Status struct {
			Conditions []moments[T] `json:"conditions"`
		} `json:"status"`
	}
)

// updated returns the lastUpdateTime of the only condition.
func (d *stamped[T]) updated() T { return d.Status.Conditions[0].LastUpdateTime }

func TestUpdateTime(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2030, 1, 2, 3, minute, 4, 0, time.UTC) }
	text := func(minute int) string { return at(minute).Format(time.RFC3339) }
	meta, clock, words, pointer := &stamped[metav1.Time]{}, &stamped[time.Time]{}, &stamped[string]{}, &stamped[*metav1.Time]{}
	number := &stamped[int]{}
	document := map[string]any{}
	declared, err := status.Declare(status.Declared{Type: "BackedUp", UpdateTime: true})
	require.NoError(t, err)
	entry := func() map[string]any {
		return document["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
	}
	for _, row := range []struct {
		reason  string
		minute  int
		status  metav1.ConditionStatus
		message string
		changed bool
		want    int
	}{
		{"conditions 1: a new condition", 0, metav1.ConditionFalse, "a tenth", true, 0},
		{"conditions 1: a new message", 1, metav1.ConditionFalse, "a half", true, 1},
		{"conditions 1: the same once more", 2, metav1.ConditionFalse, "a half", false, 1},
		{"conditions 1: a new status", 3, metav1.ConditionTrue, "", true, 3},
	} {
		t.Run(row.reason, func(t *testing.T) {
			for _, object := range []any{meta, clock, words, pointer, number} {
				conditions := status.Conditions(object)
				assert.Equal(t, row.changed, conditions.Set(at(row.minute), metav1.Condition{Type: "BackedUp", Status: row.status, Reason: "Said", Message: row.message}))
				assert.NoError(t, conditions.Err())
			}
			assert.Equal(t, text(row.want), meta.updated().UTC().Format(time.RFC3339))
			assert.Equal(t, at(row.want), clock.updated())
			assert.Equal(t, text(row.want), words.updated())
			assert.Equal(t, text(row.want), pointer.updated().UTC().Format(time.RFC3339))
			assert.Zero(t, number.updated(), "a field that is no time is left alone")

			visit := declared.Visit(0)
			visit.Report("BackedUp", row.status, "Said", row.message)
			changed, err := visit.End(at(row.minute), document)
			require.NoError(t, err)
			assert.Equal(t, row.changed, changed)
			assert.Equal(t, text(row.want), entry()["lastUpdateTime"])
			transition := 0
			if row.status == metav1.ConditionTrue {
				transition = 3
			}
			assert.Equal(t, text(transition), entry()["lastTransitionTime"])
		})
	}
	t.Run("conditions 1: also one that is Unknown at first", func(t *testing.T) {
		t.Parallel()
		fresh := map[string]any{}
		_, err := declared.Begin(at(5), fresh, 1)
		require.NoError(t, err)
		assert.Equal(t, text(5), fresh["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["lastUpdateTime"])
	})
	t.Run("conditions 1: in a document that has the field, not in another one", func(t *testing.T) {
		t.Parallel()
		theirs := map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "A", "status": "True", "lastUpdateTime": "2020-01-01T00:00:00Z"}, map[string]any{"type": "B", "status": "True"},
			map[string]any{"type": "C", "status": "True", "lastUpdateTime": "2020-01-01T00:00:00Z"},
		}}}
		conditions := status.Conditions(theirs)
		for _, kind := range []string{"A", "B"} {
			assert.True(t, conditions.Set(at(6), metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Said"}))
		}
		list := theirs["status"].(map[string]any)["conditions"].([]any)
		assert.Equal(t, text(6), list[0].(map[string]any)["lastUpdateTime"])
		assert.NotContains(t, list[1], "lastUpdateTime")
		assert.Equal(t, "2020-01-01T00:00:00Z", list[2].(map[string]any)["lastUpdateTime"], "one that isn't set")
	})
}
