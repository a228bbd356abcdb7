package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/request"
)

// stepWaits is the error of a step that has failed and is tried again.
type stepWaits struct {
	name string
	due  time.Time
	err  string
}

// Error returns the text of the step's error.
func (e *stepWaits) Error() string {
	return fmt.Sprintf("step %s: %s (again at %s)", e.name, e.err, e.due.UTC().Format(time.RFC3339))
}

// Step calls f, unless the step of that name has succeeded for the present cause already, see package handlers. h is
// the handler of the attempt, perhaps with limits of the step.
func (a *Attempt) Step(ctx context.Context, name string, h *Handler, f func(ctx context.Context) error) error {
	if a.pass == nil {
		return request.Permanent(fmt.Errorf("step %s: only handlers of On and Field have steps", name))
	}
	p, id := a.pass, h.ID+"/"+name
	earlier := p.record.Cycle[id]
	now := p.Now()
	switch why := h.Limits.Spent(earlier, now); {
	case earlier.HasEnded() && !earlier.Failed:
		return nil
	case earlier.HasEnded():
		return request.Permanent(fmt.Errorf("step %s: %s", name, earlier.Message))
	case earlier.Due.After(now):
		return a.wait(name, earlier)
	case why != "":
		return a.stepEnded(ctx, name, h, earlier.FailedForGood(joined(why, earlier.Message), now), errors.New(joined(why, earlier.Message)))
	}
	record := earlier.Begin(p.digest, now)
	record.Purpose = p.reason
	err := p.limited(ctx, "step", h.Limits, record, f)
	if ctx.Err() != nil && err != nil {
		return err
	}
	record = h.after(record, err, p.Now())
	if !record.HasEnded() {
		p.record.Cycle = p.record.Cycle.With(id, record)
		return a.wait(name, record)
	}
	if !record.Failed {
		err = nil
	}
	return a.stepEnded(ctx, name, h, record, err)
}

// wait returns the error of a step that waits.
func (a *Attempt) wait(name string, record progress.Record) error {
	if !a.waiting || record.Due.Before(a.waits) {
		a.waiting, a.waits = true, record.Due
	}
	return &stepWaits{name, record.Due, record.Message}
}

// stepEnded stores the end of a step.
func (a *Attempt) stepEnded(ctx context.Context, name string, h *Handler, record progress.Record, err error) error {
	p, id := a.pass, h.ID+"/"+name
	p.record.Cycle = p.record.Cycle.With(id, record)
	p.outcome.updates = append(p.outcome.updates, a.updates...)
	a.updates = nil
	if unwritten := p.write(ctx); unwritten != nil {
		return fmt.Errorf("its end can't be stored: %w", unwritten)
	}
	if refused := p.madeBy(h.ID).refused; refused != nil {
		again := h.after(record.Undone(), refused, p.Now())
		p.record.Cycle = p.record.Cycle.With(id, again)
		if !again.HasEnded() {
			return a.wait(name, again)
		}
		err = refused
	}
	if err == nil {
		return nil
	}
	return request.Permanent(fmt.Errorf("step %s: %w", name, err))
}
