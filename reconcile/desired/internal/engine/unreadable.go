package engine

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// UnreadableError reports that the type of the parents can't hold a parent.
type UnreadableError struct{ Err error }

func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnreadableError) Unwrap() error { return e.Err }

// The condition of a parent that can't be read, see package desired.
const (
	ConditionUnreadable    = "Unreadable"
	ReasonTypeDoesNotMatch = "TypeDoesNotMatch"
)

// reportUnreadable writes the condition of a parent that can't be read: no function can be asked for a status.
func (p *pass) reportUnreadable(ctx context.Context, cause error) error {
	if p.Decorates {
		return nil // an event reports it
	}
	effect := "nothing is done with its children until that is corrected"
	if p.isFinalizing {
		effect = "its deletion waits until that is corrected, or the finalizer " + p.finalizer + " is removed"
	}
	condition := metav1.Condition{
		Type: ConditionUnreadable, Status: metav1.ConditionTrue, Reason: ReasonTypeDoesNotMatch,
		ObservedGeneration: p.seen.Parent.GetGeneration(), Message: fmt.Sprintf("%v; %s", cause, effect),
	}
	_, err := p.Report(ctx, p.seen.Parent, p.log, nil, true, func(present map[string]any) (next map[string]any, differs bool, err error) {
		resource := map[string]any{"status": runtime.DeepCopyJSON(present)}
		conditions := status.Conditions(resource)
		differs = conditions.Set(p.Now(), condition)
		next, _ = resource["status"].(map[string]any)
		return next, differs, conditions.Err()
	})
	if err != nil {
		return lifecycle.Unwritten(p.log, err)
	}
	return nil
}

// withoutOld returns a status without the conditions of this package that don't hold any more: the one that
// reportUnreadable sets and, without revisions, that of a roll. It reports whether present has one; present isn't
// changed.
func (p *pass) withoutOld(present map[string]any) (next map[string]any, removed bool) {
	resource := map[string]any{"status": present}
	conditions := status.Conditions(resource)
	var old []string
	if c, ok := conditions.Get(ConditionUnreadable); ok && c.Reason == ReasonTypeDoesNotMatch {
		old = append(old, ConditionUnreadable)
	}
	if c, ok := conditions.Get(conditionUpdated); ok && len(p.Revisions) == 0 && (c.Reason == reasonLatest || c.Reason == reasonWaiting) {
		old = append(old, conditionUpdated)
	}
	if len(old) == 0 {
		return present, false
	}
	resource["status"] = runtime.DeepCopyJSON(present)
	for _, kind := range old {
		status.Conditions(resource).Remove(kind)
	}
	next, _ = resource["status"].(map[string]any)
	return next, true
}
