package status_test

import (
	"context"
	"fmt"
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
		want = func() bool { return specifiedReady(t, v, whole, e, nil) }
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
	opts, _ := input["opts"].(object)
	session, _ := input["session"].(object)
	gvk := schema.FromAPIVersionAndKind(textAt(input, "api_version"), textAt(input, "kind"))
	target := readiness.Target{GroupVersionKind: gvk, Name: textAt(input, "name")}
	if namespace, given := opts["namespace"]; given {
		named, _ := namespace.(string)
		target.Namespace = &named
	}
	objects := input["cluster"].([]any)
	var found object
	get := func(_ context.Context, kind schema.GroupVersionKind, namespace, name string) (any, error) {
		if found = onlyOne(objects, kind, namespace, name); found == nil {
			return nil, nil
		}
		return found, nil
	}
	group := gvk.Group
	if gvk.Version == "" { // not said: that of what is there
		for _, element := range objects {
			group = schema.FromAPIVersionAndKind(textAt(element.(object), "apiVersion"), "").Group
		}
	}
	e := expectationOf(t, opts, textAt(session, "version"))
	checker := readiness.Checker{Registry: readiness.Registry{{Group: group, Kind: gvk.Kind}: e}}
	result, err := checker.Verify(t.Context(), time.Time{}, get, target, textAt(session, "namespace"))
	require.NoError(t, err)
	return result.Ready(), func() bool {
		if found == nil {
			v.because("status 16")
			return false
		}
		return specifiedReady(t, v, found, e, opts)
	}
}

func textAt(from object, key string) string { text, _ := from[key].(string); return text }

// onlyOne finds an object. It isn't found either when it isn't said which one
// of several is meant.
func onlyOne(objects []any, kind schema.GroupVersionKind, namespace, name string) object {
	var matches []object
	for _, element := range objects {
		each := element.(object)
		metadata := each["metadata"].(object)
		sameVersion := kind.Version == "" || each["apiVersion"] == kind.GroupVersion().String()
		if each["kind"] == kind.Kind && sameVersion && textAt(metadata, "namespace") == namespace && metadata["name"] == name {
			matches = append(matches, each)
		}
	}
	if len(matches) != 1 {
		return nil
	}
	return matches[0]
}

// expectationOf makes an expectation of oper8's options.
func expectationOf(t *testing.T, opts object, version string) readiness.Expectation {
	e := readiness.Expectation{}
	if function := textAt(opts, "verify_function"); function != "" {
		e.Func = verifyFunction(t, function)
	}
	if conditionType := textAt(opts, "condition_type"); conditionType != "" {
		e.Condition = &readiness.Condition{Type: conditionType, TimeKey: textAt(opts, "timestamp_key")}
	}
	if opts["is_subsystem"] == true {
		e.Subsystem = &readiness.Subsystem{Version: version}
	}
	return e
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
