package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ConditionPaused is the type of the condition that reports a pause: True, with ReasonPaused or ReasonPausedUntil,
// while the resource is paused, and absent otherwise. It has no observedGeneration, because a pause doesn't depend on
// the spec. The other conditions stay as they were when the pause began, including their observedGeneration.
const ConditionPaused = "Paused"

// The reasons of ConditionPaused.
const (
	// ReasonPaused: paused until the annotation is changed.
	ReasonPaused = "Paused"
	// ReasonPausedUntil: paused until the time in the annotation.
	ReasonPausedUntil = "PausedUntil"
)

// Paused reports whether a resource is paused. A resource that is being deleted isn't paused, unless PauseDeletions is
// set. In a dry run no resource is paused. An invalid value is logged once.
func (l *Lifecycle) Paused(ctx context.Context, resource *unstructured.Unstructured) (p pause.Pause, rests bool) {
	p = pause.Of(resource, l.Manager.KeyDomain(), l.Now())
	ref := deploy.RefOf(resource)
	deleted := resource.GetDeletionTimestamp() != nil && !l.PauseDeletions
	switch {
	case p.Invalid:
		var reported bool
		l.Memory.Update(ref, func(m *memory.Resource) {
			reported = m.Pause(resource.GetUID(), p.Value)
			m.PauseReported()
		})
		if !reported {
			logging.Scoped(ctx, l.Logger).Warn("not paused: the annotation is neither true nor a time such as 2030-01-31T18:00:00Z",
				"object", ref, "annotation", p.Annotation, "value", p.Value)
		}
	case p.Paused && !deleted && !l.DryRun:
		return p, true
	default:
		l.Memory.Update(ref, (*memory.Resource).EndPause)
	}
	return p, false
}

// Rest handles a paused resource: it only reports the pause in a condition, so that whoever waits for the resource sees
// why nothing happens. The condition is written once, when the pause begins or changes: if somebody removes it, or the
// schema drops it, it isn't written again.
func (l *Lifecycle) Rest(ctx context.Context, resource *unstructured.Unstructured, p pause.Pause) (request.Result, error) {
	ref, left := deploy.RefOf(resource), p.Left(l.Now())
	var reported bool
	l.Memory.Update(ref, func(m *memory.Resource) { reported = m.Pause(resource.GetUID(), p.Value) })
	if reported || l.QuietPause {
		return request.Result{RequeueAfter: left}, nil
	}
	log := logging.Scoped(ctx, l.LoggerFor(resource)).With("object", ref)
	result, err := l.SetStatus(ctx, resource, log, func(present map[string]any) (map[string]any, bool, error) {
		return l.withPause(present, p)
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return request.Result{}, err
	case err != nil:
		log.Warn("status not written: it doesn't say that the resource is paused", "error", err)
		if Temporary(err) {
			return request.Result{RequeueAfter: Sooner(left, l.Recheck)}, nil
		}
	case result.Action == deploy.Skipped:
		l.Memory.Forget(ref) // the resource was deleted meanwhile
		return request.Result{}, nil
	}
	l.Memory.Update(ref, (*memory.Resource).PauseReported)
	return request.Result{RequeueAfter: left}, nil
}

// Sooner returns the shorter of two times; zero means no time.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// pauseCondition returns the condition. Its message says what ends the pause, and whether a deletion waits.
func (l *Lifecycle) pauseCondition(p pause.Pause) metav1.Condition {
	deletion := "its deletion doesn't wait"
	if l.PauseDeletions {
		deletion = "its deletion waits too"
	}
	c := metav1.Condition{
		Type: ConditionPaused, Status: metav1.ConditionTrue, Reason: ReasonPaused,
		Message: fmt.Sprintf("The annotation %s is %q: the resource isn't reconciled until the annotation is removed; %s",
			p.Annotation, p.Value, deletion),
	}
	if !p.Until.IsZero() {
		c.Reason = ReasonPausedUntil
		c.Message = fmt.Sprintf("The annotation %s is a time: the resource isn't reconciled before %s unless the annotation is removed; %s",
			p.Annotation, p.Until.UTC().Format(time.RFC3339), deletion)
	}
	return c
}

// withPause returns a status with the condition of a pause; present isn't changed.
func (l *Lifecycle) withPause(present map[string]any, p pause.Pause) (next map[string]any, changed bool, err error) {
	resource := map[string]any{"status": runtime.DeepCopyJSON(present)}
	conditions := status.Conditions(resource)
	changed = conditions.Set(l.Now(), l.pauseCondition(p))
	next, _ = resource["status"].(map[string]any)
	return next, changed, conditions.Err()
}

// withoutPause returns a status without the condition that withPause sets, and reports whether present has that
// condition; present isn't changed. A condition of that type with another reason belongs to somebody else and stays.
func withoutPause(present map[string]any) (next map[string]any, resumed bool) {
	resource := map[string]any{"status": present}
	c, ok := status.Conditions(resource).Get(ConditionPaused)
	if !ok || c.Status != metav1.ConditionTrue || c.Reason != ReasonPaused && c.Reason != ReasonPausedUntil {
		return present, false
	}
	resource["status"] = runtime.DeepCopyJSON(present)
	status.Conditions(resource).Remove(ConditionPaused)
	next, _ = resource["status"].(map[string]any)
	return next, true
}
