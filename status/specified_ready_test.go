package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

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

// specifiedReady is rules 17 to 25 for what oper8 knows. It never asks readiness,
// which it judges.
func specifiedReady(t *testing.T, v *vector, whole object, e readiness.Expectation, opts object) bool {
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
			t.Fatal("no rule written here for another key of the time, status 18: write it before a case deviates by it")
		}
		return o.is(e.Condition.Type) == "true"
	}
	if slices.Contains([]string{"Pod", "Job", "Deployment", "StatefulSet", "Namespace"}, gvk.Kind) {
		return o.builtIn(gvk)
	}
	if e.Subsystem != nil {
		return o.subsystem(e.Subsystem.Version)
	}
	t.Fatalf("no rule written here for %s: write it before a case deviates by it", gvk)
	return false
}

// subsystem is rule 22.
func (o verified) subsystem(version string) bool {
	versions, _ := o.status["versions"].(object)
	if version == "" {
		o.v.because("status W18")
	} else if versions["reconciled"] != version {
		return false
	}
	return o.is("Ready") == "true" && o.is("Updating") == "false"
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
