package status_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status"
)

var oddStatuses = []string{
	`{}`, `null`, `[]`, `"x"`, `{"conditions":null}`, `{"conditions":"x"}`, `{"conditions":{"a":1}}`,
	`{"conditions":[null,1,"x",[],{},{"type":1},{"type":"Ready"},{"type":"Ready","status":"True","lastTransitionTime":"noon or later"}]}`,
	`{"conditions":[{"type":"Ready","status":"true","reason":"Stable","lastTransactionTime":"2024-01-01T00:00:00.1"},{"type":"Ready","status":false,"lastTransitionTime":"2024-01-01"}]}`,
	`{"conditions":[{"type":"Updating","reason":"Zz","observedGeneration":1.5},{"type":"X"},{"type":"X","lastTransitionTime":"9999-12-31T23:59:59Z"}],"versions":"1","componentStatus":[],"widgetStatus":{}}`,
	`{"observedGeneration":"1","reconciledGeneration":-1,"versions":{"available":3,"reconciled":[]},"componentStatus":{"stale":1}}`,
}

// decode makes a document of whatever JSON there is, with the numbers of either
// decoder; false when it is no map.
func decode(data []byte, floats bool) (object, bool) {
	var result object
	if floats {
		return result, json.Unmarshal(data, &result) == nil && result != nil
	}
	return result, utiljson.Unmarshal(data, &result) == nil && result != nil
}

// FuzzSet writes a condition into whatever JSON object there is: it is there
// afterwards, once, and a second Set changes nothing; or it is refused and
// nothing is changed.
func FuzzSet(f *testing.F) {
	for _, seed := range oddStatuses {
		f.Add([]byte(`{"status":`+seed+`}`), "Ready", "True", "Stable", "m", int64(1), int64(1700000000), false)
		f.Add([]byte(`{"status":`+seed+`}`), "not ready", "true", "", "a\xff", int64(-1), int64(-1700000000), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, conditionType, state, reason, message string, generation, seconds int64, floats bool) {
		obj, ok := decode(data, floats)
		if !ok {
			return
		}
		c := metav1.Condition{Type: conditionType, Status: metav1.ConditionStatus(state), Reason: reason, Message: message, ObservedGeneration: generation}
		at := time.Unix(seconds%200_000_000_000, 0)
		before := text(t, obj)
		conditions := status.Conditions(obj)
		others := foreign(obj, conditionType)
		changed := conditions.Set(at, c)
		if status.Validate(c) == nil && !at.IsZero() {
			require.NoError(t, conditions.Err())
		}
		if conditions.Err() != nil {
			require.False(t, changed)
			require.Equal(t, before, text(t, obj))
			return
		}
		require.Equal(t, changed, before != text(t, obj))
		got, ok := conditions.Get(conditionType)
		require.True(t, ok)
		require.Equal(t, c.Status, got.Status)
		require.Equal(t, c.Reason, got.Reason)
		require.LessOrEqual(t, len(got.Message), status.MaxMessageLength)
		require.Equal(t, c.ObservedGeneration, got.ObservedGeneration)
		require.False(t, conditions.Set(at.Add(time.Hour), c), "said already")
		require.Equal(t, others, foreign(obj, conditionType))
		settled, _ := decode([]byte(text(t, obj)), floats)
		require.False(t, status.Conditions(settled).Set(at.Add(time.Hour), c), "said already, as the API server gives it back")
	})
}

// foreign are the conditions of other types.
func foreign(obj object, conditionType string) (result []any) {
	st, _ := obj["status"].(object)
	list, _ := st["conditions"].([]any)
	for _, element := range list {
		if e, ok := element.(object); ok && e["type"] != conditionType {
			result = append(result, e)
		}
	}
	return result
}
