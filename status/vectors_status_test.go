package status_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

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
		got := status.Changed(input["a"], input["b"])
		if got != recorded {
			want := specifiedChange(v, input["a"], input["b"])
			assert.Equal(t, want, got)
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

// specifiedStatus is what the specification says of an update, rule by rule.
func specifiedStatus(v *vector, a status.Application, kwargs, current object) object {
	next := runtime.DeepCopyJSON(current)
	if next == nil {
		next = object{}
	}
	list, isList := current["conditions"].([]any)
	if _, given := current["conditions"]; given && !isList {
		v.because("status W2")
	}
	ready := specifiedCondition(v, list, "Ready", string(a.Ready.Reason), a.Ready.Message, a.Ready.Remove, kwargs["ready_message"] == nil)
	updating := specifiedCondition(v, list, "Updating", string(a.Updating.Reason), a.Updating.Message, a.Updating.Remove, kwargs["updating_message"] == nil)
	conditions := []any{}
	for _, c := range []object{ready, updating, specifiedProgress(v, list, ready, updating)} {
		if c != nil {
			conditions = append(conditions, any(c))
		}
	}
	next["conditions"] = append(conditions, specifiedOthers(v, list)...)
	specifiedParts(v, a, kwargs, next, ready, updating)
	if !status.Changed(current, next) {
		v.because("status W1")
		return current
	}
	return next
}

// decisive is the entry of a type that counts: the newest, the first of equals.
func decisive(v *vector, list []any, conditionType string) object {
	var found object
	var newest time.Time
	for _, element := range list {
		c, ok := element.(object)
		if !ok || c["type"] != conditionType {
			continue
		}
		at := time.Unix(0, 0)
		for _, key := range []string{"lastTransactionTime", "lastTransitionTime"} {
			text, _ := c[key].(string)
			for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
				if parsed, err := time.Parse(layout, text); err == nil {
					at = parsed
				}
			}
		}
		if found != nil {
			v.because("status 19")
		}
		if found == nil || at.After(newest) {
			found, newest = c, at
		}
	}
	return found
}

var specifiedStatuses = map[string]map[string]string{
	"Ready": {"Stable": "True", "Initializing": "False", "InProgress": "False", "ConfigError": "False", "Errored": "False"},
	"Updating": {
		"Stable": "False", "PreconditionWait": "True", "VerifyWait": "True", "VersionChange": "True", "ClusterError": "False", "Errored": "False",
	},
}

func specifiedCondition(v *vector, list []any, conditionType, reason, message string, remove, noMessage bool) object {
	present := decisive(v, list, conditionType)
	old, _ := present["reason"].(string)
	if _, known := specifiedStatuses[conditionType][old]; !known && old != "" {
		v.because("status W2")
		if reason == "" {
			return nil
		}
	}
	if reason == "" {
		reason = old
	}
	if remove || reason == "" {
		return nil
	}
	oldMessage, _ := present["message"].(string)
	switch {
	case message == "" && reason == old:
		if message = oldMessage; !noMessage && message != "" {
			v.because("status 8")
		}
	case noMessage && reason != old && oldMessage != "":
		v.because("status W3")
	}
	return dated(v, present, conditionType, specifiedStatuses[conditionType][reason], reason, message)
}

// dated is a condition over the present entry of its type.
func dated(v *vector, present object, conditionType, state, reason, message string) object {
	v.because("status W1", "status 28")
	c := runtime.DeepCopyJSON(present)
	if c == nil {
		c = object{}
	}
	at := nowText
	if old, _ := present["status"].(string); strings.EqualFold(old, state) {
		for _, key := range []string{"lastTransactionTime", "lastTransitionTime"} {
			text, _ := present[key].(string)
			for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
				if parsed, err := time.Parse(layout, text); err == nil {
					at = parsed.UTC().Format(time.RFC3339)
				}
			}
		}
	}
	delete(c, "lastTransactionTime")
	for key, value := range map[string]string{"type": conditionType, "status": state, "reason": reason, "message": message, "lastTransitionTime": at} {
		c[key] = value
	}
	return c
}

// specifiedProgress is rule 27.
func specifiedProgress(v *vector, list []any, ready, updating object) object {
	text := func(c object, key string) string { s, _ := c[key].(string); return s }
	r, u := text(ready, "reason"), text(updating, "reason")
	var conditionType string
	var cause object
	switch {
	case r == "Errored" || r == "ConfigError":
		conditionType, cause = "Stalled", ready
	case u == "Errored":
		conditionType, cause = "Stalled", updating
	case slices.Contains([]string{"PreconditionWait", "VerifyWait", "VersionChange", "ClusterError"}, u):
		conditionType, cause = "Reconciling", updating
	case r == "Initializing" || r == "InProgress":
		conditionType, cause = "Reconciling", ready
	default:
		return nil
	}
	v.because("status 27")
	return dated(v, decisive(v, list, conditionType), conditionType, "True", text(cause, "reason"), text(cause, "message"))
}

func specifiedOthers(v *vector, list []any) []any {
	var others []any
	seen := map[string]bool{}
	for _, element := range list {
		c, ok := element.(object)
		conditionType, _ := c["type"].(string)
		switch {
		case !ok:
			v.because("status W2")
		case slices.Contains([]string{"Ready", "Updating"}, conditionType):
		case slices.Contains([]string{"Reconciling", "Stalled"}, conditionType):
			v.because("status 27")
		case conditionType == "":
			v.because("status W2")
			others = append(others, c)
		case !seen[conditionType]:
			seen[conditionType] = true
			others = append(others, decisive(v, list, conditionType))
		}
	}
	return others
}

func specifiedParts(v *vector, a status.Application, kwargs, next, ready, updating object) {
	given := a.Ready != status.ReadyVerdict{} || a.Updating != status.UpdatingVerdict{}
	if a.Components != nil {
		v.because("status W10")
		next["componentStatus"] = specifiedComponents(a.Components)
	} else if present, ok := next["componentStatus"].(object); ok && given {
		v.because("status W10")
		present["stale"] = true
	}
	if kwargs["version"] == "" {
		v.because("status 6")
	}
	if a.OperatorVersion != "" {
		v.because("status W4")
		next["operatorVersion"] = a.OperatorVersion
	}
	section := func(parent object, key string) object {
		child, ok := parent[key].(object)
		if !ok {
			if parent[key] != nil {
				v.because("status W11")
			}
			child = object{}
			parent[key] = child
		}
		return child
	}
	if a.Version != "" {
		section(next, "versions")["reconciled"] = a.Version
	}
	if a.SupportedVersions != nil {
		names := []any{}
		for _, name := range a.SupportedVersions {
			names = append(names, object{"name": name})
		}
		section(section(next, "versions"), "available")["versions"] = names
	}
	if a.Kind == "" {
		return
	}
	key := strings.ToLower(a.Kind[:1]) + a.Kind[1:] + "Status"
	if next[key] != nil && !slices.Contains([]any{"Completed", "InProgress", "Failed"}, next[key]) {
		return
	}
	r, u := ready["reason"], updating["reason"]
	switch {
	case ready == nil || updating == nil:
		next[key] = "InProgress"
	case r == "Stable" && u == "Stable":
		next[key] = "Completed"
	case r == "Errored" || r == "ConfigError" || u == "Errored" || u == "ClusterError":
		next[key] = "Failed"
	default:
		next[key] = "InProgress"
	}
}

func specifiedComponents(s *status.ComponentState) object {
	list := func(parts ...[]string) []any {
		names := slices.Concat(parts...)
		slices.Sort(names)
		result := []any{}
		for _, name := range slices.Compact(names) {
			result = append(result, name)
		}
		return result
	}
	var unstarted []string
	explained := []any{}
	for name := range s.Unstarted {
		unstarted = append(unstarted, name)
	}
	for _, name := range list(unstarted) {
		explained = append(explained, object{"name": name})
	}
	all, deployed := list(s.Verified, s.Unverified, s.Failed, unstarted), list(s.Verified, s.Unverified)
	result := object{
		"allComponents": all, "deployedComponents": deployed, "verifiedComponents": list(s.Verified),
		"unverifiedComponents": list(s.Unverified), "failedComponents": list(s.Failed), "unstartedComponents": explained,
		"deployed": fmt.Sprintf("%d/%d", len(deployed), len(all)), "verified": fmt.Sprintf("%d/%d", len(list(s.Verified)), len(all)),
	}
	if s.Graph != "" {
		result["dependencyGraph"] = s.Graph
	}
	return result
}

// specifiedChange compares as W8 says.
func specifiedChange(v *vector, a, b any) bool {
	x, isX := a.(object)
	y, isY := b.(object)
	if !isX || !isY {
		return true
	}
	v.because("status W8")
	return !reflect.DeepEqual(bare(x), bare(y))
}

// bare leaves out the times that don't count, and the order of conditions.
func bare(st object) object {
	st = withoutOldTimes(st).(object)
	list, isList := st["conditions"].([]any)
	if !isList {
		return st
	}
	for _, element := range list {
		if c, ok := element.(object); ok && slices.Contains([]any{"Ready", "Updating", "Reconciling", "Stalled"}, c["type"]) {
			delete(c, "lastTransitionTime")
		}
	}
	slices.SortStableFunc(list, func(a, b any) int {
		x, _ := a.(object)
		y, _ := b.(object)
		return strings.Compare(fmt.Sprint(x["type"]), fmt.Sprint(y["type"]))
	})
	return st
}

func withoutOldTimes(value any) any {
	switch value := value.(type) {
	case object:
		result := object{}
		for key, each := range value {
			if key != "lastTransactionTime" {
				result[key] = withoutOldTimes(each)
			}
		}
		return result
	case []any:
		result := []any{}
		for _, each := range value {
			result = append(result, withoutOldTimes(each))
		}
		return result
	}
	return value
}

func runGetCondition(t *testing.T, v *vector, input object, recorded any) {
	conditionType := fmt.Sprint(input["type"])
	st, _ := input["status"].(object)
	got, found := status.Conditions(object{"status": input["status"]}).Get(conditionType)
	want := recorded
	if len(v.Error) > 0 {
		list, isList := st["conditions"].([]any)
		if !isList {
			v.because("status W2")
		}
		v.because("status 19")
		want = object{}
		if entry := decisive(v, list, conditionType); entry != nil {
			want = entry
		}
	}
	entry, _ := want.(object)
	assert.Equal(t, len(entry) > 0, found)
	text := func(key string) string { s, _ := entry[key].(string); return s }
	state := "Unknown"
	for _, each := range []string{"True", "False"} {
		if strings.EqualFold(fmt.Sprint(entry["status"]), each) {
			state = each
		}
	}
	if !found {
		return
	}
	if state != entry["status"] {
		v.because("status 20")
	}
	assert.Equal(t, []string{text("type"), state, text("reason"), text("message")}, []string{got.Type, string(got.Status), got.Reason, got.Message})
}
