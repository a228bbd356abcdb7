package readiness_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

// expecting is a checker for one kind.
func expecting(group, kind string, e readiness.Expectation) readiness.Checker {
	return readiness.Checker{Registry: readiness.Registry{{Group: group, Kind: kind}: e}}
}

func answering(state readiness.State) func(time.Time, map[string]any) readiness.Result {
	return func(time.Time, map[string]any) readiness.Result {
		return readiness.Result{State: state, Reason: "Function", Message: "says the function"}
	}
}

func TestPrecedence(t *testing.T) {
	good := &readiness.Condition{Type: "Good"}
	function := readiness.Expectation{Func: answering(readiness.Ready), Condition: good}
	byCondition := readiness.Expectation{Condition: good}
	subsystem := readiness.Expectation{Subsystem: &readiness.Subsystem{}}
	run(t, "example.com/v1", "Widget", []cell{
		{name: "status 17, W17: a function comes before a condition type", status: conditions("", is("Good", "False", "X")), checker: expecting("example.com", "Widget", function), state: readiness.Ready, reason: "Function"},
		{name: "status 17: a condition type comes before the generic conditions", status: conditions("", is("Ready", "True", "R"), is("Good", "False", "X")), checker: expecting("example.com", "Widget", byCondition), state: readiness.InProgress, reason: "X"},
		{name: "status 17: a subsystem comes before the generic conditions", status: conditions("", is("Ready", "True", "R")), checker: expecting("example.com", "Widget", subsystem), state: readiness.InProgress, reason: "Updating"},
		{name: "status 17: the generic conditions come before presence", status: conditions("", is("Ready", "False", "X")), checker: expecting("example.com", "Other", byCondition), state: readiness.InProgress, reason: "X"},
		{name: "status 17: presence is the last", checker: expecting("other.com", "Widget", byCondition), state: readiness.Ready, reason: "Present"},
	})
}

// And is called for what everything else finds ready, and can't make anything ready.
func TestAnd(t *testing.T) {
	with := func(state readiness.State, e readiness.Expectation) readiness.Checker {
		e.And = answering(state)
		return expecting("", "Pod", e)
	}
	running := conditions(`"phase":"Running"`, is("Ready", "True", "R"))
	good := &readiness.Condition{Type: "Good"}
	run(t, "v1", "Pod", []cell{
		{name: "status 17: the table waits: And isn't called", status: `{"phase":"Pending"}`, checker: with(readiness.Failed, readiness.Expectation{}), state: readiness.InProgress, reason: "PodPending"},
		{name: "status 17: the table and And are content: the reason of the table", status: running, checker: with(readiness.Ready, readiness.Expectation{}), state: readiness.Ready, reason: "PodReady"},
		{name: "status 17: And waits", status: running, checker: with(readiness.InProgress, readiness.Expectation{}), state: readiness.InProgress, reason: "Function"},
		{name: "status 17: And fails", status: running, checker: with(readiness.Failed, readiness.Expectation{}), state: readiness.Failed, reason: "Function"},
		{name: "status 17: And without an answer", status: running, checker: with("", readiness.Expectation{}), state: readiness.Unknown, reason: "NoAnswer"},
		{name: "status 17: after a condition that isn't met", status: running, checker: with(readiness.Ready, readiness.Expectation{Condition: good}), state: readiness.InProgress, reason: "NotGood"},
		{name: "status 17: after a function", status: running, checker: with(readiness.Failed, readiness.Expectation{Func: answering(readiness.Ready)}), state: readiness.Failed, reason: "Function"},
	})
}

func TestPrecedenceOverTheTable(t *testing.T) {
	good := &readiness.Condition{Type: "Good"}
	run(t, "v1", "Pod", []cell{
		{name: "status 17: a function comes before the table", status: `{"phase":"Failed"}`, checker: expecting("", "Pod", readiness.Expectation{Func: answering(readiness.Ready)}), state: readiness.Ready, reason: "Function"},
		{name: "status 17: a condition type comes before the table", status: conditions(`"phase":"Failed"`, is("Good", "True", "G")), checker: expecting("", "Pod", readiness.Expectation{Condition: good}), state: readiness.Ready, reason: "G"},
		{name: "status 17: the table comes before a subsystem", status: `{"phase":"Failed"}`, checker: expecting("", "Pod", readiness.Expectation{Subsystem: &readiness.Subsystem{}}), state: readiness.Failed, reason: "PodFailed"},
	})
}

func TestExpectedCondition(t *testing.T) {
	with := func(c readiness.Condition) readiness.Checker {
		return expecting("example.com", "Widget", readiness.Expectation{Condition: &c})
	}
	twice := conditions("", `{"type":"Good","status":"False","reason":"X","at":"2024-01-01"}`, `{"type":"Good","status":"True","reason":"Y","at":"2024-01-02"}`)
	run(t, "example.com/v1", "Widget", []cell{
		{name: "status 18: True", status: conditions("", is("Good", "True", "G")), checker: with(readiness.Condition{Type: "Good"}), state: readiness.Ready, reason: "G"},
		{name: "status 18, 20: true without case", status: conditions("", is("Good", "true", "G")), checker: with(readiness.Condition{Type: "Good"}), state: readiness.Ready, reason: "G"},
		{name: "status 18: missing", checker: with(readiness.Condition{Type: "Good"}), state: readiness.InProgress, reason: "NotGood"},
		{name: "status 18: the key of the time is the usual one", status: twice, checker: with(readiness.Condition{Type: "Good"}), state: readiness.InProgress, reason: "X"},
		{name: "status 18: the key of the time may be another one", status: twice, checker: with(readiness.Condition{Type: "Good", TimeKey: "at"}), state: readiness.Ready, reason: "Y"},
		{name: "a status of its own", status: conditions("", is("Degraded", "False", "Fine")), checker: with(readiness.Condition{Type: "Degraded", Status: "False"}), state: readiness.Ready, reason: "Fine"},
		{name: "status W16: a boolean false is False", status: conditions("", `{"type":"Degraded","status":false,"reason":"Fine"}`), checker: with(readiness.Condition{Type: "Degraded", Status: "False"}), state: readiness.Ready, reason: "Fine"},
		{name: "an absent one isn't Unknown", checker: with(readiness.Condition{Type: "Good", Status: "Unknown"}), state: readiness.InProgress, reason: "NotGood"},
		{name: "a reason without hope", status: conditions("", is("Good", "False", "Denied")), checker: with(readiness.Condition{Type: "Good", FailedReasons: []string{"Denied"}}), state: readiness.Failed, reason: "Denied"},
		{name: "status 24: of an older generation", metadata: second, status: conditions("", old("Good", "G")), checker: with(readiness.Condition{Type: "Good"}), state: readiness.InProgress, reason: "ConditionOutdated"},
	})
}

func TestExpectedFields(t *testing.T) {
	phase := readiness.Field{Path: ".status.phase", Ready: []any{"Running", "Idle"}, Failed: []any{"Error"}}
	count := readiness.Field{Path: "status.count", Ready: []any{3, true}}
	with := func(e readiness.Expectation) readiness.Checker { return expecting("example.com", "Widget", e) }
	fields := func(fields ...readiness.Field) readiness.Checker { return with(readiness.Expectation{Fields: fields}) }
	run(t, "example.com/v1", "Widget", []cell{
		{name: "one of the values", status: `{"phase":"Idle"}`, checker: fields(phase), state: readiness.Ready, reason: "FieldMatches"},
		{name: "another value", status: `{"phase":"Starting"}`, checker: fields(phase), state: readiness.InProgress, reason: "FieldDiffers"},
		{name: "a value without hope", status: `{"phase":"Error"}`, checker: fields(phase), state: readiness.Failed, reason: "FieldFailed"},
		{name: "missing", checker: fields(phase), state: readiness.InProgress, reason: "FieldMissing"},
		{name: "null is missing", status: `{"phase":null}`, checker: fields(phase), state: readiness.InProgress, reason: "FieldMissing"},
		{name: "a parent that is no map", status: `{"phase":"Idle"}`, checker: fields(readiness.Field{Path: ".status.phase.deep"}), state: readiness.InProgress, reason: "FieldMissing"},
		{name: "numbers of every kind", status: `{"count":3}`, checker: fields(count), state: readiness.Ready, reason: "FieldMatches"},
		{name: "another number", status: `{"count":2.5}`, checker: fields(count), state: readiness.InProgress, reason: "FieldDiffers"},
		{name: "a boolean", status: `{"count":true}`, checker: fields(count), state: readiness.Ready, reason: "FieldMatches"},
		{name: "text is no number", status: `{"count":"3"}`, checker: fields(count), state: readiness.InProgress, reason: "FieldDiffers"},
		{name: "any value", status: `{"address":{"ip":"1"}}`, checker: fields(readiness.Field{Path: ".status.address"}), state: readiness.Ready, reason: "FieldMatches"},
		{name: "the worst of several", status: `{"phase":"Error","count":1}`, checker: fields(count, phase), state: readiness.Failed, reason: "FieldFailed"},
		{
			name: "a condition beside fields", status: conditions(`"phase":"Idle"`, is("Good", "False", "X")),
			checker: with(readiness.Expectation{Condition: &readiness.Condition{Type: "Good"}, Fields: []readiness.Field{phase}}), state: readiness.InProgress, reason: "X",
		},
		{name: "a path that is none", checker: fields(readiness.Field{Path: ".status..phase"}), state: readiness.Unknown, reason: "ExpectationInvalid"},
		{name: "no answer", checker: with(readiness.Expectation{Func: answering("")}), state: readiness.Unknown, reason: "NoAnswer"},
	})
}

func TestRegistryValidate(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	for _, c := range []struct {
		reason   string
		expected readiness.Expectation
		names    string
	}{
		{"a condition without a type", readiness.Expectation{Condition: &readiness.Condition{}}, "no type"},
		{"another status", readiness.Expectation{Condition: &readiness.Condition{Type: "A", Status: "Yes"}}, `"Yes"`},
		{"no path", readiness.Expectation{Fields: []readiness.Field{{}}}, `path ""`},
		{"a path with a gap", readiness.Expectation{Fields: []readiness.Field{{Path: "status."}}}, `path "status."`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			err := readiness.Registry{kind: c.expected}.Validate()
			require.ErrorIs(t, err, readiness.ErrExpectation)
			assert.ErrorContains(t, err, "Widget.example.com")
			assert.ErrorContains(t, err, c.names)
		})
	}
	require.NoError(t, readiness.Registry{kind: {SetsReady: true}}.Validate())
	require.NoError(t, readiness.Registry(nil).Validate())
}

func TestSubsystem(t *testing.T) {
	with := func(version string) readiness.Checker {
		return expecting("example.com", "Widget", readiness.Expectation{Subsystem: &readiness.Subsystem{Version: version}})
	}
	oper8 := func(conditionType, status string) string {
		return `{"type":"` + conditionType + `","status":` + status + `,"lastTransactionTime":"2024-01-01T00:00:00.123456"}`
	}
	stable := []string{oper8("Ready", `"True"`), oper8("Updating", `"False"`)}
	const version = `"versions":{"reconciled":"1.0"}`
	run(t, "example.com/v1", "Widget", []cell{
		{name: "status 22: ready, with the desired version", status: conditions(version, stable...), checker: with("1.0"), state: readiness.Ready, reason: "Ready"},
		{name: "status 22: another version", status: conditions(version, stable...), checker: with("2.0"), state: readiness.InProgress, reason: "VersionDiffers"},
		{name: "status 22: nothing reconciled", status: conditions("", stable...), checker: with("1.0"), state: readiness.InProgress, reason: "VersionDiffers"},
		{name: "status 22, W18: no desired version, no version check", status: conditions(version, stable...), checker: with(""), state: readiness.Ready, reason: "Ready"},
		{name: "status 22: no desired version, the resource's own one counts", spec: `{"version":"2.0"}`, status: conditions(version, stable...), checker: with(""), state: readiness.InProgress, reason: "VersionDiffers"},
		{name: "status 22: the resource is at its own version", spec: `{"version":"1.0"}`, status: conditions(version, stable...), checker: with(""), state: readiness.Ready, reason: "Ready"},
		{name: "status 22: nothing reconciled of its own version", spec: `{"version":"1.0"}`, status: conditions("", stable...), checker: with(""), state: readiness.InProgress, reason: "VersionDiffers"},
		{name: "status 22: the given version wins", spec: `{"version":"2.0"}`, status: conditions(version, stable...), checker: with("1.0"), state: readiness.Ready, reason: "Ready"},
		{name: "status 22: a version of another shape is none", spec: `{"version":2}`, status: conditions(version, stable...), checker: with(""), state: readiness.Ready, reason: "Ready"},
		{name: "status 22, 26: undeclared, in the middle of an upgrade", spec: `{"version":"2.0"}`, status: conditions(version, stable...), state: readiness.InProgress, reason: "VersionDiffers"},
		{name: "status 22, 26: undeclared, upgraded", spec: `{"version":"1.0"}`, status: conditions(version, stable...), state: readiness.Ready, reason: "Ready"},
		{name: "status 22, 26: undeclared, it offers versions and has reconciled none", spec: `{"version":"1.0"}`, status: conditions(`"versions":{"available":{}}`, stable...), state: readiness.InProgress, reason: "VersionDiffers"},
		{name: "status 26: a version in the spec alone is nobody's business", spec: `{"version":"1.0"}`, status: conditions("", stable...), state: readiness.Ready, reason: "Ready"},
		{name: "status 26: what isn't ready says so in its own words", spec: `{"version":"2.0"}`, status: conditions(version, is("Ready", "False", "VersionChange")), state: readiness.InProgress, reason: "VersionChange"},
		{name: "status 22: not ready", status: conditions(version, oper8("Ready", `"False"`), stable[1]), checker: with("1.0"), state: readiness.InProgress, reason: "NotReady"},
		{name: "status 22: updating", status: conditions(version, stable[0], oper8("Updating", `"True"`)), checker: with("1.0"), state: readiness.InProgress, reason: "Updating"},
		{name: "status 22: no condition Updating", status: conditions(version, stable[0]), checker: with("1.0"), state: readiness.InProgress, reason: "Updating"},
		{name: "status 22, W16: a boolean false", status: conditions(version, stable[0], oper8("Updating", `false`)), checker: with("1.0"), state: readiness.Ready, reason: "Ready"},
		{
			name:   "status 22: the newest by oper8's key decides",
			status: conditions(version, stable[0], stable[1], `{"type":"Ready","status":"False","reason":"Newer","lastTransactionTime":"2024-01-02T00:00:00"}`), checker: with("1.0"), state: readiness.InProgress, reason: "Newer",
		},
		{name: "status 22, 24: one that has failed", status: conditions(version, append(stable, is("Stalled", "True", "Errored"))...), checker: with("1.0"), state: readiness.Failed, reason: "Errored"},
		{name: "status 22: no status", checker: with(""), state: readiness.InProgress, reason: "NotReady"},
	})
}

// What oper8 asks of the four kinds that it knows is asked here too.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, apiVersion, kind string
		cell                   cell
	}{
		{"status 21: a Pod that isn't Ready", "v1", "Pod", cell{status: conditions(`"phase":"Running"`, is("Ready", "False", "R")), state: readiness.InProgress}},
		{"status 21: a Pod that is Ready", "v1", "Pod", cell{status: conditions(`"phase":"Running"`, is("Ready", "True", "R")), state: readiness.Ready}},
		{"status 21: a Job that isn't Complete", "batch/v1", "Job", cell{state: readiness.InProgress}},
		{"status 21: a Job that has Failed", "batch/v1", "Job", cell{status: conditions("", is("Failed", "True", "R")), state: readiness.Failed}},
		{"status 21: a Job that is suspended", "batch/v1", "Job", cell{spec: `{"suspend":true}`, status: conditions("", is("Suspended", "True", "R")), state: readiness.InProgress}},
		{"status 21: a Job that is Complete", "batch/v1", "Job", cell{status: conditions("", is("Complete", "True", "R")), state: readiness.Ready}},
		{
			"status 21: a Deployment that isn't Available", "apps/v1", "Deployment",
			cell{spec: `{"replicas":0,"progressDeadlineSeconds":600}`, status: conditions(`"observedGeneration":1`, is("Available", "False", "R"), is("Progressing", "True", "NewReplicaSetAvailable")), state: readiness.InProgress},
		},
		{
			"status 21: a Deployment that still progresses", "apps/v1", "Deployment",
			cell{spec: `{"replicas":0,"progressDeadlineSeconds":600}`, status: conditions(`"observedGeneration":1`, is("Available", "True", "R"), is("Progressing", "True", "ReplicaSetUpdated")), state: readiness.InProgress},
		},
		{
			"status 21: a Deployment that is there", "apps/v1", "Deployment",
			cell{spec: `{"replicas":0,"progressDeadlineSeconds":600}`, status: conditions(`"observedGeneration":1`, is("Available", "True", "R"), is("Progressing", "True", "NewReplicaSetAvailable")), state: readiness.Ready},
		},
		{"status 21: a StatefulSet without a status", "apps/v1", "StatefulSet", cell{state: readiness.InProgress}},
		{"status 21: a StatefulSet that lacks a replica", "apps/v1", "StatefulSet", cell{spec: `{"replicas":2}`, status: `{"observedGeneration":1,"replicas":2,"readyReplicas":1}`, state: readiness.InProgress}},
		{"status 21: a StatefulSet that is there", "apps/v1", "StatefulSet", cell{spec: `{"replicas":2}`, status: `{"observedGeneration":1,"replicas":2,"readyReplicas":2,"updatedReplicas":2}`, state: readiness.Ready}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(build(t, c.apiVersion, c.kind, c.cell, decodeIntegers))
			assert.Equal(t, c.cell.state, result.State, "%+v", result)
		})
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	broken, other, none := errors.New("broken"), "other", ""
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	there := build(t, "v1", "ConfigMap", cell{metadata: `{"name":"x","namespace":"ns"}`}, decodeIntegers)
	for _, c := range []struct {
		reason    string
		namespace *string
		object    any
		err       error
		asked     string
		state     readiness.State
		name      string
	}{
		{"status 16: in the namespace of the session", nil, there, nil, "ns", readiness.Ready, "ConfigMap ns/x"},
		{"status 16: in another namespace", &other, there, nil, "other", readiness.Ready, "ConfigMap ns/x"},
		{"status 16: cluster-scoped", &none, there, nil, "", readiness.Ready, "ConfigMap ns/x"},
		{"status 16: absent", nil, nil, nil, "ns", readiness.NotFound, "ConfigMap ns/x"},
		{"status 16: absent, typed", nil, (*unstructured.Unstructured)(nil), nil, "ns", readiness.NotFound, "ConfigMap ns/x"},
		{"status 16: empty", nil, map[string]any{}, nil, "ns", readiness.NotFound, "ConfigMap ns/x"},
		{"status 16: absent as the API server says it", nil, nil, notFound("x"), "ns", readiness.NotFound, "ConfigMap ns/x"},
		{"status 16: a read that fails is an error", nil, nil, broken, "ns", "", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			calls := 0
			get := func(_ context.Context, kind schema.GroupVersionKind, namespace, name string) (any, error) {
				calls++
				assert.Equal(t, gvk, kind)
				assert.Equal(t, []string{c.asked, "x"}, []string{namespace, name})
				return c.object, c.err
			}
			result, err := readiness.Checker{}.Verify(t.Context(), noon, get, readiness.Target{GroupVersionKind: gvk, Name: "x", Namespace: c.namespace}, "ns")
			assert.Equal(t, 1, calls)
			assert.Equal(t, c.state, result.State)
			assert.Equal(t, c.name, result.Object.String())
			if c.state == "" {
				require.ErrorIs(t, err, broken)
				require.ErrorContains(t, err, "ConfigMap ns/x: ")
				return
			}
			require.NoError(t, err)
		})
	}
}

type (
	phase   string
	enabled bool
	level   int32
)

func TestFieldsOfNamedTypes(t *testing.T) {
	t.Parallel()
	obj := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "status": map[string]any{"phase": "Up", "on": true, "level": int64(3)}}
	for path, value := range map[string]any{".status.phase": phase("Up"), ".status.on": enabled(true), ".status.level": level(3), "status.level": json.Number("3")} {
		checker := expecting("example.com", "Widget", readiness.Expectation{Fields: []readiness.Field{{Path: path, Ready: []any{value}}}})
		assert.Equal(t, readiness.Ready, checker.Of(obj).State, path)
		checker = expecting("example.com", "Widget", readiness.Expectation{Fields: []readiness.Field{{Path: path, Failed: []any{value}}}})
		assert.Equal(t, readiness.Failed, checker.Of(obj).State, path)
	}
}
