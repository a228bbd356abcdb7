package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestStateInATable(t *testing.T) {
	t.Parallel()
	const ready = "{type: Ready, status: 'True', reason: Stable, message: all is well, observedGeneration: 2}"
	for _, row := range []struct {
		reason, object, want string
	}{
		{"of one that is ready nothing more is said", `
metadata: {name: hello, generation: 2}
status: {conditions: [` + ready + `], componentStatus: {verified: 2/2}}`, "hello True Stable 2/2 -"},
		{"a status from before the last change says so, and what it said", `
metadata: {name: hello, generation: 3}
status: {conditions: [` + ready + `], componentStatus: {verified: 2/2}}`, "hello True (outdated) Stable 2/2 - all is well"},
		{"what isn't rolled out says why", `
metadata: {name: hello, generation: 2}
status: {conditions: [{type: Ready, status: 'False', reason: Initializing, message: begins}, {type: Updating, status: 'True', reason: PreconditionWait, message: waits for redis}]}`,
			"hello False PreconditionWait - - waits for redis"},
		{"a cluster's refusal isn't Stable, although what is there still works", `
metadata: {name: hello, generation: 2}
status: {conditions: [` + ready + `, {type: Updating, status: 'False', reason: ClusterError, message: 'web: no rights'}]}`,
			"hello True ClusterError - - web: no rights"},
		{"a mistake of the resource's author says so", `
metadata: {name: hello, generation: 2}
status: {conditions: [{type: Ready, status: 'False', reason: ConfigError, message: no size}, {type: Updating, status: 'False', reason: Errored, message: no size}]}`,
			"hello False ConfigError - - no size"},
		{"on the way out its finalizers say what it waits for", `
metadata: {name: hello, generation: 2, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]}
status: {conditions: [` + ready + `]}`, "hello True Deleting - - waits for the finalizers a/b"},
		{"what its Finalize waits for says more", `
metadata: {name: hello, generation: 3, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]}
status: {conditions: [` + ready + `, {type: Updating, status: 'True', reason: VerifyWait, message: 'backup: not ready', observedGeneration: 3}]}`,
			"hello True (outdated) Deleting - - backup: not ready"},
		{"but not what was said before the deletion", `
metadata: {name: hello, generation: 3, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]}
status: {conditions: [` + ready + `, {type: Updating, status: 'True', reason: VerifyWait, message: 'web: not ready', observedGeneration: 2}]}`,
			"hello True (outdated) Deleting - - waits for the finalizers a/b"},
		{"paused by the annotation", `
metadata: {name: hello, generation: 2, annotations: {example.dev/pause-execution: 'true'}}
status: {conditions: [` + ready + `, {type: Paused, status: 'True', reason: Paused, message: somebody asked}]}`, "hello True Paused - - somebody asked"},
		{"nobody has looked at it", `
metadata: {name: hello, generation: 1}`, "hello Unknown - - - no operator has reconciled it yet: does the operator run?"},
		{"a line and nothing else of somebody's text", `
metadata: {name: hello}
status: {conditions: [{type: Ready, status: 'False', reason: Errored, message: "one\ntwo"}]}`, "hello False Errored - - one"},
	} {
		obj := &unstructured.Unstructured{}
		document, err := yaml.YAMLToJSON([]byte("apiVersion: example.dev/v1\nkind: Widget" + row.object))
		require.NoError(t, err, row.reason)
		require.NoError(t, obj.UnmarshalJSON(document), row.reason)
		var content strings.Builder
		require.NoError(t, states{all: []state{newState(obj, "example.dev")}}.table(&content), row.reason)
		_, line, _ := strings.Cut(content.String(), "\n")
		assert.Equal(t, row.want, strings.Join(strings.Fields(line), " "), row.reason)
	}
}

// TestStateAtLength: the first line says why a deletion hangs, and each component has one of the states of package
// reconcile.
func TestStateAtLength(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, object, want string }{
		{"one that is rolled out, with a component that is switched off", `
metadata: {name: hello, namespace: shop, generation: 1}
status:
  conditions: [{type: Ready, status: 'False', reason: InProgress, message: m}]
  componentStatus: {verified: 1/4, verifiedComponents: [db], unverifiedComponents: [web], failedComponents: [mail], disabledComponents: [store],
    unstartedComponents: [{name: shop, reason: waits for web}], componentMessages: [{name: web, message: 1 of 2}]}`, `
Widget       shop/hello
Ready        False  InProgress
Message      m
Components   1/4 verified

COMPONENT   STATE        MESSAGE
mail        failed
web         unverified   1 of 2
db          verified
shop        unstarted    waits for web
store       disabled

CONDITION   STATUS   REASON       SINCE   MESSAGE
Ready       False    InProgress   -       m

More about InProgress: widget-operator explain InProgress
`},
		{"a deletion that hangs", `
metadata: {name: hello, namespace: shop, generation: 2, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]}
status: {conditions: [{type: Updating, status: 'True', reason: PreconditionWait, message: 'finalize: no disk for the copy', observedGeneration: 2}]}`, `
Widget   shop/hello is being deleted: finalize: no disk for the copy
Ready    Unknown  Deleting

CONDITION   STATUS   REASON             SINCE   MESSAGE
Updating    True     PreconditionWait   -       finalize: no disk for the copy

More about Deleting: widget-operator explain Deleting
`},
	} {
		obj := &unstructured.Unstructured{}
		document, err := yaml.YAMLToJSON([]byte("apiVersion: example.dev/v1\nkind: Widget" + row.object))
		require.NoError(t, err, row.reason)
		require.NoError(t, obj.UnmarshalJSON(document), row.reason)
		var content strings.Builder
		require.NoError(t, states{all: []state{newState(obj, "example.dev")}, details: true, called: "widget-operator"}.table(&content), row.reason)
		assert.Equal(t, row.want, "\n"+content.String(), row.reason)
	}
}

func TestStateOfAnotherStyle(t *testing.T) {
	t.Parallel()
	const ready = "{type: Ready, status: 'True', reason: Fine, message: all is well}"
	for _, row := range []struct{ reason, object, ready, state, message string }{
		{"conditions aren't a duty", "metadata: {name: hello}", "Unknown", "", "its status has no condition Ready"},
		{"those of its own are told", "metadata: {name: hello}\nstatus: {conditions: [{type: Claimed, status: 'True', reason: R}, {type: Bound, status: 'True', reason: R}, " +
			"{type: Grown, status: 'False', reason: TooSmall, message: 'a volume must not shrink'}, {type: Stale, status: 'False', reason: Fresh}]}",
			"Unknown", "", "its status has no condition Ready; Grown is False: a volume must not shrink; Stale is False: Fresh; True: Claimed, Bound"},
		{"but are shown", "metadata: {name: hello}\nstatus: {conditions: [" + ready + "]}", "True", "Fine", "all is well"},
		{"a pause is what the annotation says", "metadata: {name: hello, annotations: {example.dev/pause-execution: 'true'}}\nstatus: {conditions: [" + ready + "]}",
			"True", "Paused", `its annotation example.dev/pause-execution is "true"`},
		{"or the condition", "metadata: {name: hello, annotations: {example.dev/pause-execution: 'true'}}\nstatus: {conditions: [" + ready +
			", {type: Paused, status: 'True', reason: Paused, message: somebody asked}]}", "True", "Paused", "somebody asked"},
		{"a pause that is over", "metadata: {name: hello, annotations: {example.dev/pause-execution: '2020-01-01T00:00:00Z'}}", "Unknown", "", "its status has no condition Ready"},
		{"on the way out", "metadata: {name: hello, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]}", "Unknown", "Deleting", "waits for the finalizers a/b"},
	} {
		obj := &unstructured.Unstructured{}
		document, err := yaml.YAMLToJSON([]byte("apiVersion: example.dev/v1\nkind: Gear\n" + row.object))
		require.NoError(t, err, row.reason)
		require.NoError(t, obj.UnmarshalJSON(document), row.reason)
		s := newForeignState(obj, "example.dev", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		assert.Equal(t, []string{row.ready, row.state, row.message}, []string{s.Ready, s.Reason, s.Message}, row.reason)
	}
}
