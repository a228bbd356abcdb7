package status_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operkit/operkit/status"
)

// runStatus runs a case of the family oper8-status. Where our answer isn't the
// recorded one, it has to be what the specification says, read here once more
// and independently; the reading notes the rules that make the difference.
func runStatus(t *testing.T, v *vector) {
	input := decodeVector(t, v.Input).(object)
	recorded := decodeVector(t, v.Output)
	kwargs, _ := input["kwargs"].(object)
	switch input["func"] {
	case "make_application_status":
		current, _ := kwargs["external_status"].(object)
		current = runtime.DeepCopyJSON(current)
		if current == nil {
			current = object{}
		}
		delete(current, "conditions")
		if external, given := kwargs["external_conditions"]; given {
			current["conditions"] = external
		}
		runApplication(t, v, current, kwargs, recorded, len(v.Error) > 0)
	case "update_application_status":
		current, _ := input["current_status"].(object)
		runApplication(t, v, current, kwargs, recorded, len(v.Error) > 0)
	case "update_resource_status":
		runResource(t, v, input, kwargs, recorded.(object))
	case "status_changed":
		if got := status.Changed(input["a"], input["b"]); got != recorded {
			assert.Equal(t, specifiedChange(v, input["a"], input["b"]), got)
		}
	case "get_condition":
		runGetCondition(t, v, input, recorded)
	case "get_version":
		st, _ := input["status"].(object)
		if got := status.ReconciledVersion(st); any(got) != recorded && (recorded != nil || got != "") || len(v.Error) > 0 {
			v.because("status W11")
			versions, _ := st["versions"].(object)
			want, _ := versions["reconciled"].(string)
			assert.Equal(t, want, got)
		}
	default:
		t.Fatalf("nobody knows the function %v", input["func"])
	}
}

// applicationOf makes an Application of oper8's arguments; false when one of
// them is no value for it.
func applicationOf(kwargs object) (status.Application, bool) {
	text := func(key string) string { s, _ := kwargs[key].(string); return s }
	for _, key := range []string{"ready_reason", "updating_reason", "ready_message", "updating_message", "version", "kind", "operator_version"} {
		if value := kwargs[key]; value != nil {
			if _, ok := value.(string); !ok {
				return status.Application{}, false
			}
		}
	}
	a := status.Application{
		Ready:    status.ReadyVerdict{Reason: status.ReadyReason(text("ready_reason")), Message: text("ready_message"), Remove: isNull(kwargs, "ready_reason")},
		Updating: status.UpdatingVerdict{Reason: status.UpdatingReason(text("updating_reason")), Message: text("updating_message"), Remove: isNull(kwargs, "updating_reason")},
		Version:  text("version"), OperatorVersion: text("operator_version"), Kind: text("kind"),
	}
	if state, ok := kwargs["component_state"].(object); ok {
		a.Components = &status.ComponentState{
			Verified: namesOf(state["verified"]), Unverified: namesOf(state["unverified"]), Failed: namesOf(state["failed"]),
			Unstarted: map[string]string{}, Graph: text("dependency_graph"),
		}
		for _, name := range namesOf(state["unstarted"]) {
			a.Components.Unstarted[name] = ""
		}
	}
	if versions, ok := kwargs["supported_versions"].([]any); ok {
		a.SupportedVersions = namesOf(versions)
	}
	return a, true
}

func isNull(kwargs object, key string) bool {
	value, given := kwargs[key]
	return given && value == nil
}

func namesOf(list any) []string {
	names := []string{}
	elements, _ := list.([]any)
	for _, element := range elements {
		names = append(names, fmt.Sprint(element))
	}
	return names
}

func runApplication(t *testing.T, v *vector, current, kwargs object, recorded any, isError bool) {
	a, ok := applicationOf(kwargs)
	if !ok {
		require.True(t, isError, "an argument of a wrong type")
		return
	}
	before := runtime.DeepCopyJSON(current)
	next, _, err := a.Update(now, current)
	assert.Equal(t, before, current, "status W9: the input isn't mutated")
	if err != nil {
		require.ErrorIs(t, err, status.ErrInvalidReason)
		assert.True(t, isError, "oper8 has an answer: %v", err)
		return
	}
	if !isError && reflect.DeepEqual(next, recorded) {
		return
	}
	assert.Equal(t, specifiedStatus(v, a, kwargs, current), next)
	assert.NotEmpty(t, v.rules, "no rule says why this isn't what oper8 does")
}

func runResource(t *testing.T, v *vector, input, kwargs, recorded object) {
	name := input["object"].(object)
	var found object
	for _, each := range input["resources"].([]any) {
		metadata := each.(object)["metadata"].(object)
		if each.(object)["kind"] == name["kind"] && metadata["name"] == name["name"] && metadata["namespace"] == name["namespace"] {
			found = each.(object)
		}
	}
	a, ok := applicationOf(kwargs)
	require.True(t, ok)
	a.Kind = fmt.Sprint(name["kind"])
	writes := 0
	written, err := a.Write(t.Context(), now, func(context.Context) (object, error) {
		return runtime.DeepCopyJSON(found), nil
	}, func(_ context.Context, next object) error {
		writes++
		found = next
		return nil
	})
	require.NoError(t, err)
	if found == nil {
		assert.Nil(t, written, "status 10: an empty answer")
		assert.Empty(t, recorded["returned"])
		assert.Zero(t, writes)
		return
	}
	assert.Equal(t, found["status"], any(written), "what is answered is what is there")
	if reflect.DeepEqual(recorded["returned"], any(written)) && reflect.DeepEqual(recorded["cluster_status"], found["status"]) {
		return
	}
	for _, each := range input["resources"].([]any) {
		if each.(object)["metadata"].(object)["name"] == name["name"] {
			st, _ := each.(object)["status"].(object)
			assert.Equal(t, specifiedStatus(v, a, kwargs, st), written)
		}
	}
	assert.NotEmpty(t, v.rules)
}
