package status_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

// verifyKinds are the kinds that oper8's functions are about.
var verifyKinds = map[string]schema.GroupVersionKind{
	"verify_pod":         {Version: "v1", Kind: "Pod"},
	"verify_job":         {Group: "batch", Version: "v1", Kind: "Job"},
	"verify_deployment":  {Group: "apps", Version: "v1", Kind: "Deployment"},
	"verify_statefulset": {Group: "apps", Version: "v1", Kind: "StatefulSet"},
	"verify_subsystem":   {Group: "g", Version: "v1", Kind: "Foo"},
}

// runVerify runs a case of the family oper8-verify. Where our answer isn't the
// recorded one, it has to be what the specification says, read here once more.
func runVerify(t *testing.T, v *vector) {
	input := decodeVector(t, v.Input).(object)
	var got bool
	var want func() bool
	if input["func"] == "verify_resource" {
		got, want = verifyResource(t, v, input)
	} else {
		kind, known := verifyKinds[fmt.Sprint(input["func"])]
		require.True(t, known, "nobody knows the function %v", input["func"])
		content, _ := input["object"].(object)
		whole := runtime.DeepCopyJSON(content)
		if whole == nil {
			whole = object{}
		}
		whole["apiVersion"], whole["kind"] = kind.GroupVersion().String(), kind.Kind
		kwargs, _ := input["kwargs"].(object)
		version, _ := kwargs["desired_version"].(string)
		e := readiness.Expectation{}
		if input["func"] == "verify_subsystem" {
			e.Subsystem = &readiness.Subsystem{Version: version}
		}
		checker := readiness.Checker{Registry: readiness.Registry{kind.GroupKind(): e}}
		got = checker.Of(whole).Ready()
		want = func() bool { return specifiedReady(v, whole, e, nil) }
	}
	if recorded := decodeVector(t, v.Output); len(v.Error) == 0 && got == recorded {
		return
	}
	if len(v.Error) > 0 {
		v.because("status: errors")
	}
	assert.Equal(t, want(), got)
	assert.NotEmpty(t, v.rules, "no rule says why this isn't what oper8 does")
}

func verifyResource(t *testing.T, v *vector, input object) (bool, func() bool) {
	text := func(from object, key string) string { s, _ := from[key].(string); return s }
	opts, _ := input["opts"].(object)
	session, _ := input["session"].(object)
	gvk := schema.FromAPIVersionAndKind(text(input, "api_version"), text(input, "kind"))
	target := readiness.Target{GroupVersionKind: gvk, Name: text(input, "name")}
	if namespace, given := opts["namespace"]; given {
		named, _ := namespace.(string)
		target.Namespace = &named
	}
	var found object
	get := func(_ context.Context, kind schema.GroupVersionKind, namespace, name string) (any, error) {
		var matches []object
		for _, element := range input["cluster"].([]any) {
			each := element.(object)
			metadata := each["metadata"].(object)
			sameVersion := kind.Version == "" || each["apiVersion"] == kind.GroupVersion().String()
			if each["kind"] == kind.Kind && sameVersion && text(metadata, "namespace") == namespace && metadata["name"] == name {
				matches = append(matches, each)
			}
		}
		if len(matches) != 1 { // none, or it isn't said which one
			return nil, nil
		}
		found = matches[0]
		return found, nil
	}
	e := readiness.Expectation{}
	if function := text(opts, "verify_function"); function != "" {
		e.Func = verifyFunction(t, function)
	}
	if conditionType := text(opts, "condition_type"); conditionType != "" {
		e.Condition = &readiness.Condition{Type: conditionType, TimeKey: text(opts, "timestamp_key")}
	}
	if opts["is_subsystem"] == true {
		e.Subsystem = &readiness.Subsystem{Version: text(session, "version")}
	}
	group := gvk.Group
	if gvk.Version == "" { // not said: that of what is there
		for _, element := range input["cluster"].([]any) {
			group = schema.FromAPIVersionAndKind(text(element.(object), "apiVersion"), "").Group
		}
	}
	checker := readiness.Checker{Registry: readiness.Registry{{Group: group, Kind: gvk.Kind}: e}}
	result, err := checker.Verify(t.Context(), time.Time{}, get, target, text(session, "namespace"))
	require.NoError(t, err)
	return result.Ready(), func() bool {
		if found == nil {
			v.because("status 16")
			return false
		}
		return specifiedReady(v, found, e, opts)
	}
}

// verifyFunction is a function by its recorded name.
func verifyFunction(t *testing.T, name string) func(time.Time, object) readiness.Result {
	return func(_ time.Time, o object) readiness.Result {
		ready := name == "true"
		if key, isData := strings.CutPrefix(name, "data_"); isData {
			data, _ := o["data"].(object)
			ready = data[key] != nil
		} else if name != "true" && name != "false" {
			t.Errorf("nobody knows the function %q", name)
		}
		state := readiness.InProgress
		if ready {
			state = readiness.Ready
		}
		return readiness.Result{State: state, Reason: "Function", Message: name}
	}
}

// verified reads an object as the specification's rules are written.
type verified struct {
	v      *vector
	spec   object
	status object
	list   []any
	stale  int64
}

func (o verified) is(conditionType string) string {
	c := decisive(o.v, o.list, conditionType)
	state := strings.ToLower(fmt.Sprint(c["status"]))
	if _, isBool := c["status"].(bool); isBool {
		o.v.because("status W16")
	}
	if observed, ok := c["observedGeneration"].(int64); ok && observed < o.stale {
		o.v.because("status 24")
		return ""
	}
	return state
}

func (o verified) count(from object, key string, byDefault int64) int64 {
	if n, ok := from[key].(int64); ok {
		return n
	}
	return byDefault
}

// specifiedReady is rules 17 to 25 for what oper8 knows.
func specifiedReady(v *vector, whole object, e readiness.Expectation, opts object) bool {
	metadata, _ := whole["metadata"].(object)
	o := verified{v: v}
	o.spec, _ = whole["spec"].(object)
	o.status, _ = whole["status"].(object)
	o.list, _ = o.status["conditions"].([]any)
	o.stale, _ = metadata["generation"].(int64)
	observed, isObserved := o.status["observedGeneration"].(int64)
	if metadata["deletionTimestamp"] != nil || o.is("Stalled") == "true" || o.is("Reconciling") == "true" || o.stale > 0 && isObserved && observed != o.stale {
		v.because("status 24")
		return false
	}
	apiVersion, _ := whole["apiVersion"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, fmt.Sprint(whole["kind"]))
	switch {
	case e.Func != nil:
		if e.Condition != nil {
			v.because("status W17")
		}
		return e.Func(time.Time{}, whole).Ready()
	case e.Condition != nil:
		if opts["timestamp_key"] != nil {
			v.because("status 18")
			return readiness.Checker{Registry: readiness.Registry{gvk.GroupKind(): e}}.Of(whole).Ready()
		}
		return o.is(e.Condition.Type) == "true"
	}
	if slices.Contains([]string{"Pod", "Job", "Deployment", "StatefulSet", "Namespace"}, gvk.Kind) {
		return o.builtIn(gvk)
	}
	if e.Subsystem != nil {
		versions, _ := o.status["versions"].(object)
		if e.Subsystem.Version == "" {
			v.because("status W18")
		} else if versions["reconciled"] != e.Subsystem.Version {
			return false
		}
		return o.is("Ready") == "true" && o.is("Updating") == "false"
	}
	v.because("status 25")
	return readiness.Of(whole).Ready()
}

func (o verified) builtIn(gvk schema.GroupVersionKind) bool {
	switch gvk.GroupKind().String() {
	case "Pod":
		o.v.because("status 25")
		return o.status["phase"] == "Succeeded" || o.status["phase"] == "Running" && o.is("Ready") == "true"
	case "Namespace":
		o.v.because("status 25")
		return o.status["phase"] == "Active"
	case "Job.batch":
		o.v.because("status 25")
		return o.is("Complete") == "true" && o.is("Failed") != "true" && o.is("FailureTarget") != "true"
	case "Deployment.apps":
		o.v.because("status 25", "status W12")
		want := o.count(o.spec, "replicas", 1)
		deadline, hasDeadline := o.spec["progressDeadlineSeconds"].(int64)
		progressed := o.is("Progressing") == "true" && decisive(o.v, o.list, "Progressing")["reason"] == "NewReplicaSetAvailable"
		counted := o.status["observedGeneration"] != nil && o.count(o.status, "replicas", 0) == want &&
			o.count(o.status, "updatedReplicas", 0) >= want && o.count(o.status, "readyReplicas", 0) >= want &&
			o.count(o.status, "availableReplicas", 0) >= o.count(o.status, "updatedReplicas", 0)
		if o.spec["paused"] == true {
			return counted
		}
		late := decisive(o.v, o.list, "Progressing")["reason"] == "ProgressDeadlineExceeded"
		return counted && !late && o.is("Available") == "true" && (progressed || !hasDeadline || deadline == 2147483647)
	case "StatefulSet.apps":
		o.v.because("status 25", "status W12")
		want := o.count(o.spec, "replicas", 1)
		return o.status["observedGeneration"] != nil && o.count(o.status, "replicas", 0) == want && o.count(o.status, "readyReplicas", 0) >= want &&
			o.count(o.status, "updatedReplicas", 0) >= want && fmt.Sprint(o.status["currentRevision"]) == fmt.Sprint(o.status["updateRevision"])
	}
	o.v.because("status W15", "status 26")
	for _, conditionType := range []string{"Ready", "Available", "Succeeded"} {
		if decisive(o.v, o.list, conditionType) != nil {
			return o.is(conditionType) == "true"
		}
	}
	return o.is("Failed") != "true" && o.is("Progressing") != "true"
}
