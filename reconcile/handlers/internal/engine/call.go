package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// call calls a handler once, and stores what has succeeded if other handlers are left. An error is about the pass, not
// of the handler.
func (p *pass) call(ctx context.Context, h *Handler) error {
	p.called = true
	now := p.Now()
	earlier := p.record.Cycle[h.ID]
	if why := h.Limits.Spent(earlier, now); why != "" {
		return p.ended(ctx, h, earlier.FailedForGood(joined(why, earlier.Message), now), errors.New(joined(why, earlier.Message)))
	}
	a := &Attempt{work: &p.work, pass: p, Handler: h, record: earlier.Begin(p.digest, now), Diff: p.changes(h)}
	p.record.Cycle = p.record.Cycle.With(h.ID, a.record)
	p.madeBy(h.ID).record = a.record
	err := a.run(ctx)
	if lifecycle.Interrupted(ctx) && (err != nil || isLost(ctx)) {
		p.record.Cycle = p.record.Cycle.With(h.ID, earlier) // it will be called again, by the next process
		return context.Cause(ctx)
	}
	p.collect(a, err == nil && !a.waiting)
	now = p.Now()
	if err != nil && ctx.Err() != nil { // the time of the pass is over, which is no fault of the handler
		after, _ := h.retry(request.RetryAfter(0, err), earlier.Attempts)
		return p.ended(ctx, h, a.record.Waits(now.Add(after)), nil)
	}
	if a.waiting && (err == nil || failure.Is[*stepWaits](err)) {
		return p.ended(ctx, h, a.record.Waits(a.waits), nil)
	}
	return p.ended(ctx, h, h.after(a.record, err, now), err)
}

// run calls the function.
func (a *Attempt) run(ctx context.Context) error {
	err := a.work.limited(ctx, "handler", a.Handler.Limits, a.record, func(ctx context.Context) error { return a.Handler.Call(ctx, a) })
	for _, panicked := range request.Panics(err) {
		a.work.log.Error("a handler panicked", "handler", a.Handler.ID, "at", panicked.Location(), "value", panicked.Value, "stack", string(panicked.Stack))
	}
	return err
}

// limited calls the function of a handler or a step, with a context that ends at its deadline.
func (w *work) limited(ctx context.Context, what string, limits progress.Limits, record progress.Record, f func(ctx context.Context) error) error {
	deadline, limited := limits.Deadline(record)
	if !limited {
		return failure.Guard(func() error { return f(ctx) })
	}
	tooLong := fmt.Errorf("the %s took longer than %s: %w", what, limits.Within, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, deadline.Sub(w.Now()), tooLong)
	defer cancel()
	err := failure.Guard(func() error { return f(ctx) })
	if err == nil && !w.Now().Before(deadline) {
		return tooLong // a success that comes too late is none
	}
	return err
}

// ended records how an attempt has ended.
func (p *pass) ended(ctx context.Context, h *Handler, record progress.Record, err error) error {
	p.record.Cycle = p.record.Cycle.With(h.ID, record)
	if h.On&selection.Resume != 0 && record.HasEnded() && (p.reason == cause.Resume || p.reason == cause.Update) {
		if p.known.resumes == nil {
			p.known.resumes = map[string]bool{}
		}
		p.known.resumes[h.ID] = true
	}
	p.tell(h, record, err)
	if !record.HasEnded() || p.record.Cycle.Done() {
		return nil // the end of the pass writes it
	}
	return p.write(ctx)
}

// tell logs and reports how an attempt has ended.
func (p *pass) tell(h *Handler, record progress.Record, err error) {
	why := string(p.reason)
	if h.Rule != nil {
		why = "time"
	}
	log := p.log.With("handler", h.ID, "cause", why)
	switch {
	case err == nil && record.HasEnded():
		log.Debug("a handler has succeeded", "attempts", record.Attempts)
	case err == nil:
		log.Debug("a handler waits for its steps", "until", record.Due)
	case record.Failed:
		log.Error("a handler has failed for good", "error", record.Message, "attempts", record.Attempts)
		p.warn(EventGivenUp, "%s: %s", h.ID, record.Message)
	case record.HasEnded():
		log.Warn("an error of a handler is ignored", "error", err)
	case request.IsWaiting(err):
		log.Info("a handler waits", "for", err, "attempts", record.Attempts, "retry_in", record.Due.Sub(p.Now()))
	default:
		log.Warn("a handler has failed", "error", err, "attempts", record.Attempts, "retry_in", record.Due.Sub(p.Now()))
		p.warn(EventFailed, "%s: %v", h.ID, err)
	}
	if err == nil && !record.HasEnded() {
		return
	}
	for _, declared := range h.Reports {
		if err == nil && p.reason == cause.Resume && h.Rule == nil && p.reportsTrue(declared.Type) {
			continue // or a restart would write the status of each object that was updated since it was created
		}
		p.report(func(c *lifecycle.Conditions) { c.Result(declared.Type, err) })
	}
}

// reportsTrue reports whether the object has a condition that is True.
func (p *pass) reportsTrue(conditionType string) bool {
	present, ok := status.Conditions(p.object).Get(conditionType)
	return ok && present.Status == metav1.ConditionTrue
}

// changes returns what has changed for a handler. A map that is added or removed as a field counts as empty before or
// after that, so that a handler about a map, such as the labels, gets one change for each key in any case.
func (p *pass) changes(h *Handler) []diff.Item {
	if p.reason != cause.Update || p.record.Essence == nil {
		return nil
	}
	field := h.Filter.Field
	before, after := diff.At(p.record.Essence, field), diff.At(p.essence, field)
	if _, isMap := after.(map[string]any); isMap && before == nil {
		before = map[string]any{}
	}
	if _, isMap := before.(map[string]any); isMap && after == nil {
		after = map[string]any{}
	}
	return diff.Of(before, after)
}

// failures joins the errors of handlers that have failed and not succeeded yet.
func (p *pass) failures() error {
	var errs []error
	for _, h := range p.selected {
		switch record := p.record.Cycle[h.ID]; {
		case record.Message == "" || record.HasEnded() && !record.Failed:
		case record.Waiting && !record.HasEnded():
			errs = append(errs, request.Precondition("handler %s: %s", h.ID, record.Message))
		default:
			errs = append(errs, fmt.Errorf("handler %s: %s", h.ID, record.Message))
		}
	}
	for _, one := range p.standing {
		if one.Err != nil {
			errs = append(errs, fmt.Errorf("handler %s: %w", one.ID, one.Err))
		}
	}
	return errors.Join(errs...)
}

func joined(why, message string) string {
	return strings.TrimSuffix(why+": "+message, ": ")
}
