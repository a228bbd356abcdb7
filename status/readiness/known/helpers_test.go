package known_test

import (
	"encoding/json"
	"testing"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// cell is an object in one state, and the expected result.
type cell struct {
	name string
	// spec and status are JSON; an empty status is none at all. The generation is 2.
	spec, status    string
	state           readiness.State
	reason, message string
	remark          bool
	// ageless is true if the status doesn't tell for which generation it is.
	ageless bool
}

var byName = readiness.Checker{Registry: known.Kinds()}

func object(t testing.TB, apiVersion, kind, spec, status string) map[string]any {
	t.Helper()
	parts := map[string]string{"spec": spec, "status": status}
	document := map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": "it", "namespace": "shop", "generation": int64(2)},
	}
	for key, source := range parts {
		if source == "" {
			continue
		}
		part := map[string]any{}
		require.NoError(t, utiljson.Unmarshal([]byte(source), &part), source)
		document[key] = part
	}
	return document
}

// run judges each cell as it is, while the object is being deleted, and for a newer generation.
func run(t *testing.T, checker readiness.Checker, apiVersion, kind string, cells []cell) {
	t.Helper()
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			document := object(t, apiVersion, kind, c.spec, c.status)
			before := runtime.DeepCopyJSON(document)
			result := checker.Of(document)
			assert.Equal(t, c.state, result.State, "%+v", result)
			assert.Equal(t, c.reason, result.Reason, "%+v", result)
			assert.Equal(t, c.remark, result.Remark, "%+v", result)
			assert.Contains(t, result.Message, c.message)
			assert.NotEmpty(t, result.Message)
			assert.NotEmpty(t, result.Fields)
			assert.Equal(t, before, document, "the object is not changed")

			metadata := document["metadata"].(map[string]any)
			metadata["generation"] = int64(3)
			if newer := checker.Of(document); !c.ageless {
				assert.Equal(t, readiness.InProgress, newer.State, "known 2: of an older generation: %+v", newer)
			}
			metadata["deletionTimestamp"] = "2030-01-02T03:04:05Z"
			assert.Equal(t, readiness.Terminating, checker.Of(document).State, "deleted")
		})
	}
}

// is returns a condition that is about the generation 2, old one about the generation 1.
func is(kind, status, reason, message string) string {
	return conditionOf(kind, status, reason, message, 2)
}

func old(kind, status, reason string) string { return conditionOf(kind, status, reason, "old news", 1) }

func conditionOf(kind, status, reason, message string, generation int64) string {
	entry := map[string]any{
		"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2030-01-02T03:04:05Z",
	}
	if generation > 0 {
		entry["observedGeneration"] = generation
	}
	data, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// conditions returns a status with conditions; more is JSON before them, such as "phase":"Running", with a comma.
func conditions(more string, all ...string) string {
	list := ""
	for i, each := range all {
		if i > 0 {
			list += ","
		}
		list += each
	}
	return "{" + more + `"conditions":[` + list + "]}"
}
