package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// untrue is the problem of a status that says what isn't so.
const untrue = "the status isn't true"

// truth judges the statuses of the resources at rest.
func (w *witness) truth(objects []*unstructured.Unstructured) (faults []fault) {
	for _, obj := range objects {
		if !w.explores(deploy.RefOf(obj)) || obj.GetDeletionTimestamp() != nil {
			continue
		}
		details := slices.Concat(outdated(obj), incomplete(obj), contradicting(obj))
		if claimOf(obj).ready {
			details = append(unreadyOf(obj, objects), details...)
		}
		if unready := w.trace.life.unready; unready != "" && claimOf(obj).ready && len(details) == 0 {
			details = append(details, "is Ready, but "+unready+" isn't")
		}
		for i, detail := range details {
			details[i] = nameOf(obj) + " " + detail
		}
		if len(details) > 0 {
			faults = append(faults, fault{untrue, details})
		}
	}
	return faults
}

// outdated finds observed generations that are older than the resource: that of the status, or of the condition Ready
// if the status has none. With both, an old Ready says that it isn't known yet for the present generation.
func outdated(obj *unstructured.Unstructured) (details []string) {
	older := func(field string, fields map[string]any) {
		if observed, is := fields["observedGeneration"].(int64); is && observed != obj.GetGeneration() {
			details = append(details, fmt.Sprintf("%s.observedGeneration: it is %d, but metadata.generation is %d", field, observed, obj.GetGeneration()))
		}
	}
	content, _ := obj.Object["status"].(map[string]any)
	older("status", content)
	for _, condition := range conditionsOf(obj) {
		if condition["type"] == status.ConditionReady && content["observedGeneration"] == nil {
			older(fieldOf(condition), condition)
		}
	}
	return details
}

// incomplete finds conditions without a reason or the time of their last transition.
func incomplete(obj *unstructured.Unstructured) (details []string) {
	for _, condition := range conditionsOf(obj) {
		if condition["reason"] == nil || condition["reason"] == "" {
			details = append(details, fieldOf(condition)+".reason: it is missing")
		}
		// oper8 names the time lastTransactionTime.
		if condition["lastTransitionTime"] == nil && condition["lastTransactionTime"] == nil {
			details = append(details, fieldOf(condition)+".lastTransitionTime: it is missing")
		}
	}
	return details
}

// contradicting finds a condition Ready that is True for the present generation while the rest of the status says
// otherwise, as tools understand it that read the status of any kind.
func contradicting(obj *unstructured.Unstructured) []string {
	result := readiness.Of(obj)
	if !claimOf(obj).ready || result.State != readiness.InProgress && result.State != readiness.Failed {
		return nil
	}
	return []string{fmt.Sprintf("is Ready, but the whole status reads as %s: %s", result.State, result.Message)}
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

// workloadKinds are the kinds without which a resource can't be Ready.
var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// unreadyOf returns the workloads of a resource that aren't ready.
func unreadyOf(owner *unstructured.Unstructured, objects []*unstructured.Unstructured) (details []string) {
	for _, obj := range objects {
		kind := obj.GroupVersionKind()
		if kind.Group != "apps" || !slices.Contains(workloadKinds, kind.Kind) || !owned(obj, owner.GetUID()) {
			continue
		}
		if result := readiness.Of(obj); !result.Ready() {
			details = append(details, fmt.Sprintf("is Ready, but %s isn't: %s", nameOf(obj), result.Message))
		}
	}
	return details
}

func owned(obj *unstructured.Unstructured, by types.UID) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == by })
}

// claim is what a status claims.
type claim struct {
	// ready: the resource is Ready for its present generation. observed is the generation that the status names, 0 if
	// it names none.
	ready    bool
	observed int64
}

func claimOf(obj *unstructured.Unstructured) (c claim) {
	ready, _ := status.Conditions(obj).Get(status.ConditionReady)
	c.observed, _, _ = unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	if ready.ObservedGeneration != 0 {
		c.observed = ready.ObservedGeneration
	}
	c.ready = ready.Status == metav1.ConditionTrue && (c.observed == 0 || c.observed == obj.GetGeneration())
	return c
}

// early finds a status that just begins to claim that a resource is Ready while a workload isn't.
func (w *witness) early(ref deploy.Ref) []fault {
	obj, err := w.harness.Memory().View().Get(w.trial.ctx, ref)
	if err != nil || obj == nil {
		return nil
	}
	before, now := w.claims[refName(ref)], claimOf(obj)
	w.claims[refName(ref)] = now
	if !now.ready || now == before {
		return nil
	}
	details := unreadyOf(obj, w.harness.Memory().Objects())
	for i, detail := range details {
		details[i] = nameOf(obj) + " " + detail
	}
	if len(details) == 0 {
		return nil
	}
	return []fault{{untrue, details}}
}

// moved finds a time of a transition that moves though the condition stays.
func (w *witness) moved(calls []reconciletest.Call) []fault {
	for _, call := range calls {
		if !w.explores(call.Ref) {
			continue
		}
		for _, change := range call.Changes {
			condition, is := strings.CutSuffix(change.Path, ".lastTransitionTime")
			if is && change.Before != nil && change.After != nil && !turns(call.Changes, condition) {
				detail := difference{refName(call.Ref), change}.String()
				return []fault{{"a condition's lastTransitionTime moves though its status stays", []string{detail}}}
			}
		}
	}
	return nil
}

// turns reports whether the status of a condition changes, or another condition takes its place in the list.
func turns(changes []deploy.Change, condition string) bool {
	return slices.ContainsFunc(changes, func(change deploy.Change) bool {
		return change.Path == condition+".status" || change.Path == condition+".type"
	})
}
