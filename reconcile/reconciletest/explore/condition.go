package explore

import (
	"fmt"

	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// remark is what is wrong with a field of a status.
type remark struct{ field, text string }

func (r remark) String() string { return r.field + ": " + r.text }

// outdated finds observed generations that are older than the resource: that of the status, or of the condition Ready
// if the status has none. With both, an old Ready says that it isn't known yet for the present generation.
func outdated(obj *unstructured.Unstructured) (remarks []remark) {
	older := func(in string, fields map[string]any) {
		if observed, is := fields["observedGeneration"].(int64); is && observed != obj.GetGeneration() {
			remarks = append(remarks, remark{in + ".observedGeneration", fmt.Sprintf("it is %d, but metadata.generation is %d", observed, obj.GetGeneration())})
		}
	}
	content, _ := obj.Object["status"].(map[string]any)
	older("status", content)
	for _, condition := range conditionsOf(obj) {
		if condition["type"] == status.ConditionReady && content["observedGeneration"] == nil {
			older(fieldOf(condition), condition)
		}
	}
	return remarks
}

// incomplete finds conditions without a reason or the time of their last transition.
func incomplete(obj *unstructured.Unstructured) (remarks []remark) {
	for _, condition := range conditionsOf(obj) {
		if condition["reason"] == nil || condition["reason"] == "" {
			remarks = append(remarks, remark{fieldOf(condition) + ".reason", "it is missing"})
		}
		// oper8 names the time lastTransactionTime.
		if condition["lastTransitionTime"] == nil && condition["lastTransactionTime"] == nil {
			remarks = append(remarks, remark{fieldOf(condition) + ".lastTransitionTime", "it is missing"})
		}
	}
	return remarks
}

func conditionsOf(obj *unstructured.Unstructured) (conditions []map[string]any) {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, one := range list {
		if condition, is := one.(map[string]any); is && condition["type"] != nil {
			conditions = append(conditions, condition)
		}
	}
	return conditions
}

func fieldOf(condition map[string]any) string {
	return fmt.Sprintf("status.conditions[%v]", condition["type"])
}
