package readiness_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operkit/operkit/status/readiness"
)

// cell is one cell of the table as a test: an object, and what is to be said.
type cell struct {
	name         string
	spec, status string // JSON, empty for none
	state        readiness.State
	reason       string
	checker      readiness.Checker
	now          time.Time
	metadata     string // JSON, {"generation":1} when empty
}

// noon is the time of the tests that pass one.
var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func build(t testing.TB, apiVersion, kind string, c cell, decode func([]byte, any) error) *unstructured.Unstructured {
	t.Helper()
	part := func(text, byDefault string) string {
		if text == "" {
			return byDefault
		}
		return text
	}
	source := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":%s,"spec":%s,"status":%s}`,
		apiVersion, kind, part(c.metadata, `{"generation":1}`), part(c.spec, "{}"), part(c.status, "{}"))
	object := map[string]any{}
	require.NoError(t, decode([]byte(source), &object), source)
	return &unstructured.Unstructured{Object: object}
}

func decodeIntegers(data []byte, target any) error {
	return utiljson.Unmarshal(data, target.(*map[string]any))
}

func decodeFloats(data []byte, target any) error { return json.Unmarshal(data, target) }

// run tests every cell of a row as it stands, with float64 numbers, while the
// object is being deleted, and after its spec has changed.
func run(t *testing.T, apiVersion, kind string, cells []cell) {
	t.Helper()
	t.Parallel()
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			object := build(t, apiVersion, kind, c, decodeIntegers)
			before := object.DeepCopy()
			result := c.checker.At(c.now, object)
			assert.Equal(t, c.state, result.State, "%+v", result)
			assert.Equal(t, c.reason, result.Reason, "%+v", result)
			assert.NotEmpty(t, result.Message)
			assert.Equal(t, c.state == readiness.Ready, result.Ready())
			assert.Equal(t, before, object, "the object isn't mutated")
			assert.Equal(t, result, c.checker.At(c.now, build(t, apiVersion, kind, c, decodeFloats)), "status 25: float64 counts as well")
			if c.now.IsZero() {
				assert.Equal(t, result, c.checker.Of(object))
			}
			// Both have to hold whatever the cell says.
			stale := object.DeepCopy()
			require.NoError(t, unstructured.SetNestedField(stale.Object, int64(6), "status", "observedGeneration"))
			stale.SetGeneration(7)
			assert.Equal(t, readiness.InProgress, c.checker.At(c.now, stale).State, "status 24: an older generation is observed")
			assert.Equal(t, "LatestGenerationNotObserved", c.checker.At(c.now, stale).Reason)
			deleted := object.DeepCopy()
			require.NoError(t, unstructured.SetNestedField(deleted.Object, "2026-05-06T11:00:00Z", "metadata", "deletionTimestamp"))
			assert.Equal(t, readiness.Terminating, c.checker.At(c.now, deleted).State, "status 24, W14: being deleted is never ready")
		})
	}
}

// conditions makes a status of conditions "Type=Status[:Reason]" and fields.
func conditions(fields string, list ...string) string {
	text := `{`
	if fields != "" {
		text += fields + `,`
	}
	text += `"conditions":[`
	for i, c := range list {
		if i > 0 {
			text += ","
		}
		text += c
	}
	return text + `]}`
}

// is makes one condition, with its own words.
func is(conditionType, status, reason string) string {
	return fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":"own words"}`, conditionType, status, reason)
}

// old makes a True condition of generation 1, for objects of generation 2.
func old(conditionType, reason string) string {
	return fmt.Sprintf(`{"type":%q,"status":"True","reason":%q,"observedGeneration":1}`, conditionType, reason)
}

const second = `{"generation":2}`

func notFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
}
