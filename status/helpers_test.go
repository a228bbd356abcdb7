package status_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Moments of the tests: now, and texts of earlier and now.
var now = time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.FixedZone("CEST", 2*60*60))

const (
	nowText     = "2026-05-06T05:08:09Z"
	earlierText = "2024-01-01T00:00:00Z"
)

type object = map[string]any

// document decodes JSON as Kubernetes does, with integers as int64.
func document(t testing.TB, text string) object {
	t.Helper()
	var result object
	require.NoError(t, utiljson.Unmarshal([]byte(text), &result))
	return result
}

// text encodes a document for comparison: keys are sorted.
func text(t testing.TB, value any) string {
	t.Helper()
	result, err := json.Marshal(value)
	require.NoError(t, err)
	return string(result)
}

// typed is an object with accessors; it counts what is set.
type typed struct {
	conditions []metav1.Condition
	sets       int
}

func (o *typed) GetConditions() []metav1.Condition { return o.conditions }

func (o *typed) SetConditions(conditions []metav1.Condition) {
	o.conditions = conditions
	o.sets++
}

func isReady(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message}
}
