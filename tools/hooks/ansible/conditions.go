package ansible

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/text"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The types of the conditions. They, their reasons and their messages are those of the Ansible operator.
const (
	conditionRunning    = "Running"
	conditionSuccessful = "Successful"
	conditionFailure    = "Failure"
)

const (
	reasonRunning    = "Running"
	reasonSuccessful = "Successful"
	reasonFailed     = "Failed"

	messageRunning   = "Running reconciliation"
	messageAwaiting  = "Awaiting next reconciliation"
	messageSucceeded = "Last reconciliation succeeded"
)

// longestMessage bounds the message of a condition, in bytes.
const longestMessage = 4 << 10

// condition is a condition of a resource.
type condition struct {
	kind            string
	status          metav1.ConditionStatus
	reason, message string
	// result is the ansibleResult, nil for none.
	result map[string]any
}

// running returns the conditions while the first run of a generation is under way.
func running() []condition {
	return []condition{
		{conditionRunning, metav1.ConditionTrue, reasonRunning, messageRunning, nil},
		{conditionSuccessful, metav1.ConditionFalse, reasonRunning, messageRunning, nil},
	}
}

// outcome returns the conditions after a run that has come to its end.
func outcome(done *playbook.Result) []condition {
	result := map[string]any{
		"ok": int64(done.OK), "changed": int64(done.Changed), "failures": int64(done.Failures), "skipped": int64(done.Skipped),
		"completion": done.Completed.UTC().Format(time.RFC3339),
	}
	if !done.Succeeded() {
		return failed(messageOf(done), result)
	}
	return []condition{
		{conditionRunning, metav1.ConditionTrue, reasonSuccessful, messageAwaiting, result},
		{conditionSuccessful, metav1.ConditionTrue, reasonSuccessful, messageSucceeded, nil},
		{conditionFailure, metav1.ConditionFalse, reasonSuccessful, "", nil},
	}
}

// failed returns the conditions after a run that has failed.
func failed(message string, result map[string]any) []condition {
	return []condition{
		{conditionRunning, metav1.ConditionFalse, reasonFailed, message, nil},
		{conditionSuccessful, metav1.ConditionFalse, reasonFailed, message, nil},
		{conditionFailure, metav1.ConditionTrue, reasonFailed, message, result},
	}
}

// messageOf returns the messages of the failed tasks, bounded.
func messageOf(done *playbook.Result) string {
	if message := done.Message(); message != "" {
		return text.Cut(message, longestMessage)
	}
	return "tasks have failed without a message"
}

// reportRunning writes that a run is under way, if it is the first one for the generation of the resource: a run that is
// only a repetition isn't reported before its outcome differs.
func (r *reconciler) reportRunning(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured) error {
	if isReported(resource) {
		return nil
	}
	return r.report(ctx, key, resource, running())
}

// isReported reports whether the conditions of a resource are about its generation, and about a run that has ended.
func isReported(resource *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	for _, one := range list {
		fields, _ := one.(map[string]any)
		if fields["type"] == conditionSuccessful {
			observed, _ := fields["observedGeneration"].(int64)
			return fields["reason"] != reasonRunning && observed == resource.GetGeneration()
		}
	}
	return false
}

// reportError reports a run that couldn't be made.
func (r *reconciler) reportError(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured, err error) error {
	r.recordFailure(key, resource, err)
	return r.report(ctx, key, resource, failed(text.Cut(err.Error(), longestMessage), nil))
}

// reportOutcome reports a run that has come to its end, with the fields of the status that it has set.
func (r *reconciler) reportOutcome(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured, done *playbook.Result) error {
	err := r.write(ctx, key, resource, outcome(done), done.Status)
	var refused *deploy.InvalidError
	if errors.As(err, &refused) && len(done.Status) > 0 {
		err = fmt.Errorf("the status that set_stats has set: %w", err)
		return errors.Join(err, r.reportError(ctx, key, resource, err))
	}
	return err
}

// report writes conditions.
func (r *reconciler) report(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured, conditions []condition) error {
	return r.write(ctx, key, resource, conditions, nil)
}

// write writes conditions and other fields, unless they are in the status already. It does nothing if others manage the
// status.
func (r *reconciler) write(ctx context.Context, key deploy.Ref, resource *unstructured.Unstructured, conditions []condition, fields map[string]any) error {
	if !r.entry.ManageStatus {
		return nil
	}
	_, err := r.env.Manager.SetStatus(ctx, key, func(current *unstructured.Unstructured) (map[string]any, error) {
		present, _ := current.Object["status"].(map[string]any)
		if current.GetUID() != resource.GetUID() {
			return present, nil
		}
		next := maps.Clone(present)
		if next == nil {
			next = map[string]any{}
		}
		maps.Copy(next, fields)
		list, _ := present["conditions"].([]any)
		next["conditions"] = merged(list, conditions, resource.GetGeneration(), r.env.Now())
		return next, nil
	})
	var refused *deploy.InvalidError
	if errors.As(err, &refused) && len(refused.Causes) == 0 && len(fields) == 0 {
		r.env.Logger.Warn("the status can't be written: add the status subresource to the definition of the kind, or set manageStatus: false", "object", key, "error", err)
		return nil
	}
	return err
}

// merged returns the conditions with new ones in their places. One that differs only in the time when its run has ended
// stays as it is.
func merged(present []any, conditions []condition, generation int64, now time.Time) []any {
	next := slices.Clone(present)
	for _, one := range conditions {
		fields := map[string]any{
			"type": one.kind, "status": string(one.status), "reason": one.reason, "message": one.message, "observedGeneration": generation,
		}
		if one.result != nil {
			fields["ansibleResult"] = one.result
		}
		at := slices.IndexFunc(next, func(other any) bool {
			known, _ := other.(map[string]any)
			return known["type"] == one.kind
		})
		if at < 0 {
			next, at = append(next, nil), len(next)
		}
		before, _ := next[at].(map[string]any)
		if isSame(before, fields) {
			continue
		}
		fields["lastTransitionTime"] = before["lastTransitionTime"]
		if before["status"] != fields["status"] || fields["lastTransitionTime"] == nil {
			fields["lastTransitionTime"] = now.UTC().Format(time.RFC3339)
		}
		next[at] = fields
	}
	return next
}

// isSame reports whether a condition says the same as before, whenever.
func isSame(before, after map[string]any) bool {
	return reflect.DeepEqual(withoutTimes(before), withoutTimes(after))
}

func withoutTimes(fields map[string]any) map[string]any {
	fields = maps.Clone(fields)
	delete(fields, "lastTransitionTime")
	if result, ok := fields["ansibleResult"].(map[string]any); ok {
		result = maps.Clone(result)
		delete(result, "completion")
		fields["ansibleResult"] = result
	}
	return fields
}
