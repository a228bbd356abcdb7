package known

import (
	"cmp"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is what the rules read of an object.
type object struct {
	controller             string
	document               map[string]any
	metadata, spec, status map[string]any
	conditions             []any
}

func read(document map[string]any, controller string) object {
	status := condition.Map(document, "status")
	return object{
		controller: controller, document: document,
		metadata: condition.Map(document, "metadata"), spec: condition.Map(document, "spec"),
		status: status, conditions: condition.ListOf(status),
	}
}

// view is one condition.
type view struct {
	kind, path, controller string
	present, outdated      bool
	status                 metav1.ConditionStatus
	reason, message        string
}

// condition returns the newest condition of a type.
func (o object) condition(kind string) view {
	return o.conditionIn(o.conditions, "status.", kind)
}

// conditionIn returns the newest condition of a type in a list whose path begins with prefix.
func (o object) conditionIn(list []any, prefix, kind string) view {
	v := view{kind: kind, path: prefix + "conditions[" + kind + "]", controller: o.controller, status: metav1.ConditionUnknown}
	entry := condition.Find(list, kind)
	if entry == nil {
		return v
	}
	v.present, v.status = true, condition.StatusOf(entry)
	v.reason, v.message = condition.Text(entry, condition.Reason), condition.Text(entry, condition.Message)
	generation, known := condition.Integer(o.metadata["generation"])
	observed, stated := condition.Integer(entry[condition.ObservedGeneration])
	v.outdated = known && stated && observed != generation
	return v
}

// holds and isFalse report what the condition says about the present generation. Both are false if it says nothing.
func (v view) holds() bool   { return v.status == metav1.ConditionTrue && !v.outdated }
func (v view) isFalse() bool { return v.status == metav1.ConditionFalse && !v.outdated }

// waits returns the result for a condition that isn't True yet.
func (v view) waits() readiness.Result {
	switch {
	case !v.present:
		return inProgress("ConditionMissing", "the condition "+v.kind+" isn't set yet: "+v.controller+" hasn't handled the object", v.path)
	case v.outdated:
		return inProgress("ConditionOutdated", "the condition "+v.kind+" is for an older generation: "+v.controller+" hasn't handled the change", v.path)
	}
	return inProgress(cmp.Or(v.reason, "Not"+v.kind), cmp.Or(v.message, "the condition "+v.kind+" is not True"), v.path)
}

// fails returns the result for a condition that reports an error.
func (v view) fails() readiness.Result {
	return failed(cmp.Or(v.reason, "Not"+v.kind), cmp.Or(v.message, "the condition "+v.kind+" reports an error"), v.path)
}

// done returns the result for a condition that makes the object ready.
func (v view) done() readiness.Result {
	return ready(cmp.Or(v.reason, v.kind), cmp.Or(v.message, "the condition "+v.kind+" is True"), v.path)
}

// unless returns fails for a False condition whose reason isn't among the waiting ones, and otherwise waits.
func (v view) unless(waiting ...string) readiness.Result {
	if !v.isFalse() {
		return v.waits()
	}
	for _, reason := range waiting {
		if v.reason == reason {
			return v.waits()
		}
	}
	return v.fails()
}

func ready(reason, message string, fields ...string) readiness.Result {
	return readiness.Result{State: readiness.Ready, Reason: reason, Message: message, Fields: fields}
}

// remark returns a Ready result whose message somebody should see.
func remark(reason, message string, fields ...string) readiness.Result {
	result := ready(reason, message, fields...)
	result.Remark = true
	return result
}

func inProgress(reason, message string, fields ...string) readiness.Result {
	return readiness.Result{State: readiness.InProgress, Reason: reason, Message: message, Fields: fields}
}

func failed(reason, message string, fields ...string) readiness.Result {
	return readiness.Result{State: readiness.Failed, Reason: reason, Message: message, Fields: fields}
}

// text returns a text in a document, by default if it isn't there.
func text(document map[string]any, key, byDefault string) string {
	if value, ok := document[key].(string); ok {
		return value
	}
	return byDefault
}

// maps returns the elements of a list that are maps.
func maps(value any) (all []map[string]any) {
	list, _ := value.([]any)
	for _, each := range list {
		if element, ok := each.(map[string]any); ok {
			all = append(all, element)
		}
	}
	return all
}

// worst returns the first of the results with the worst state. There is at least one.
func worst(results []readiness.Result) readiness.Result {
	found := results[0]
	for _, result := range results[1:] {
		if rank(result) < rank(found) {
			found = result
		}
	}
	return found
}

func rank(result readiness.Result) int {
	switch {
	case result.State == readiness.Failed:
		return 0
	case !result.Ready():
		return 1
	case result.Remark:
		return 2
	}
	return 3
}
