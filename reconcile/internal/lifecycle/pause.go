package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/logging"
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

// LongestRest is the time after which a paused resource is checked again at the latest. Timers don't notice when the
// clock is set, so a pause may end late by up to this time.
const LongestRest = 10 * time.Minute

// Pause is the value of the annotation <domain>/pause-execution.
type Pause struct {
	annotation, value string
	// rests: the resource is paused until the time in until or, if until is zero, until the annotation is changed.
	rests bool
	until time.Time
	// strange: the value is invalid.
	strange bool
}

// pauseOf reads the annotation of a resource: "true" pauses, in capital letters too, and so does a future time (RFC
// 3339). "false", a past time and the empty value are valid and don't pause.
func (l *Lifecycle) pauseOf(resource *unstructured.Unstructured) Pause {
	p := Pause{annotation: l.Manager.KeyDomain() + "/pause-execution"}
	p.value = resource.GetAnnotations()[p.annotation]
	switch {
	case strings.EqualFold(p.value, "true"):
		p.rests = true
	case p.value != "" && !strings.EqualFold(p.value, "false"):
		until, err := time.Parse(time.RFC3339, p.value)
		p.strange = err != nil
		p.until, p.rests = until, err == nil && until.After(l.Now())
	}
	return p
}

// Paused reports whether a resource is paused. A resource that is being deleted isn't paused, unless PauseDeletions is
// set. In a dry run no resource is paused. An invalid value is logged once.
func (l *Lifecycle) Paused(ctx context.Context, resource *unstructured.Unstructured) (p Pause, rests bool) {
	p = l.pauseOf(resource)
	ref := deploy.RefOf(resource)
	deleted := resource.GetDeletionTimestamp() != nil && !l.PauseDeletions
	switch {
	case p.strange:
		var reported bool
		l.Memory.Update(ref, func(m *memory.Resource) {
			reported = m.Pause(resource.GetUID(), p.value)
			m.PauseReported()
		})
		if !reported {
			logging.Scoped(ctx, l.Logger).Warn("not paused: the annotation is neither true nor a time such as 2030-01-31T18:00:00Z",
				"object", ref, "annotation", p.annotation, "value", p.value)
		}
	case p.rests && !deleted && !l.DryRun:
		return p, true
	default:
		l.Memory.Update(ref, (*memory.Resource).EndPause)
	}
	return p, false
}

// Rest handles a paused resource: it only reports the pause in a condition, so that whoever waits for the resource sees
// why nothing happens. The condition is written once, when the pause begins or changes: if somebody removes it, or the
// schema drops it, it isn't written again.
func (l *Lifecycle) Rest(ctx context.Context, resource *unstructured.Unstructured, p Pause) (request.Result, error) {
	ref, left := deploy.RefOf(resource), p.Left(l.Now())
	var reported bool
	l.Memory.Update(ref, func(m *memory.Resource) { reported = m.Pause(resource.GetUID(), p.value) })
	if reported {
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

// Left returns the time after which the resource is checked again. Zero means that it is checked only when it changes.
func (p Pause) Left(now time.Time) time.Duration {
	if p.until.IsZero() {
		return 0
	}
	// At least a millisecond: if the pause ends right now, zero would mean that the resource is never checked again.
	return max(min(p.until.Sub(now), LongestRest), time.Millisecond)
}

// Sooner returns the shorter of two times; zero means no time.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// pauseCondition returns the condition. Its message says what ends the pause, and whether a deletion waits.
func (l *Lifecycle) pauseCondition(p Pause) metav1.Condition {
	deletion := "its deletion doesn't wait"
	if l.PauseDeletions {
		deletion = "its deletion waits too"
	}
	c := metav1.Condition{
		Type: ConditionPaused, Status: metav1.ConditionTrue, Reason: ReasonPaused,
		Message: fmt.Sprintf("The annotation %s is %q: the resource isn't reconciled until the annotation is removed; %s",
			p.annotation, p.value, deletion),
	}
	if !p.until.IsZero() {
		c.Reason = ReasonPausedUntil
		c.Message = fmt.Sprintf("The annotation %s is a time: the resource isn't reconciled before %s unless the annotation is removed; %s",
			p.annotation, p.until.UTC().Format(time.RFC3339), deletion)
	}
	return c
}

// withPause returns a status with the condition of a pause; present isn't changed.
func (l *Lifecycle) withPause(present map[string]any, p Pause) (next map[string]any, changed bool, err error) {
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
