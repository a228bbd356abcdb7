package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/schedule"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
)

// timed are the handlers of a kind that are called by time, with the rule of each.
type timed struct {
	handlers []*Handler
	rules    schedule.Rules
}

func (t timed) has(id string) bool {
	return slices.ContainsFunc(t.handlers, func(h *Handler) bool { return h.ID == id })
}

// times are what the process remembers for the timers and crons of one object.
type times struct {
	// states are those of timed.
	states []schedule.State
	// changed is when the essence changed last, as the process has seen it; digest identifies that essence.
	changed time.Time
	digest  string
}

// noteChange notes when the essence has changed, for timers.
func (p *pass) noteChange() {
	if len(p.timed.rules) == 0 {
		return
	}
	t := p.known.times
	if t == nil {
		t = &times{states: make([]schedule.State, len(p.timed.rules))}
		p.known.times = t
	}
	if p.digest != t.digest && !p.isOwnEdit(t.digest) {
		t.changed = p.began
	}
	t.digest = p.digest
}

// callTimed calls the timers and crons that are due.
func (p *pass) callTimed(ctx context.Context) error {
	if len(p.timed.rules) == 0 {
		return nil
	}
	t := p.known.times
	p.plan(t)
	ready, _, _ := p.timed.rules.Due(t.states, t.changed, p.began)
	for _, i := range ready {
		if ctx.Err() != nil {
			break
		}
		if err := p.callTimedOne(ctx, i, t); err != nil {
			return err
		}
	}
	if left, next, ok := p.timed.rules.Due(t.states, t.changed, p.began); len(left) > 0 {
		p.due = p.began // the time of the pass was over before
	} else if ok {
		p.due = next
	}
	return nil
}

// plan starts the handlers that are about the object, and suspends the others.
func (p *pass) plan(t *times) {
	about, isDeleting := p.about(), p.object.GetDeletionTimestamp() != nil
	for i, h := range p.timed.handlers {
		if isDeleting || !selection.Sees(h.Handler, about) {
			t.states[i] = t.states[i].Suspend()
			continue
		}
		if h.IsCron && !t.states[i].Started() {
			p.unsettle() // to read when it was called last
		}
		t.states[i] = p.timed.rules[i].Start(t.states[i], p.object.GetCreationTimestamp().Time, p.record.Crons[h.ID], p.began)
	}
}

// callTimedOne makes one attempt of a handler.
func (p *pass) callTimedOne(ctx context.Context, i int, t *times) error {
	h, rule, start := p.timed.handlers[i], p.timed.rules[i], p.Now()
	if h.IsCron {
		p.unsettle()
	}
	state := t.states[i].Begin(h.Limits, start)
	a := &Attempt{work: &p.work, Handler: h, record: state.Progress(start)}
	err := a.run(ctx)
	if lifecycle.Interrupted(ctx) && (err != nil || isLost(ctx)) {
		return context.Cause(ctx)
	}
	p.madeBy(h.ID).timer = &timedRun{i, state, start}
	p.collect(a, err == nil)
	t.states[i] = p.afterTimed(h, rule, state, err, start)
	if called, ok := t.states[i].Called(); ok && h.IsCron {
		p.record.Crons = maps.Clone(p.record.Crons)
		if p.record.Crons == nil {
			p.record.Crons = map[string]time.Time{}
		}
		p.record.Crons[h.ID] = called.Truncate(time.Second)
	}
	return nil
}

// afterTimed returns the state after an attempt, and reports how it has ended.
func (p *pass) afterTimed(h *Handler, rule schedule.Rule, s schedule.State, err error, start time.Time) schedule.State {
	end := p.Now()
	record := h.after(s.Progress(start), err, end)
	p.tell(h, record, err)
	switch {
	case record.Failed && (request.IsPermanent(err) || h.Policy == Fail):
		return rule.Failed(s, start, end)
	case record.HasEnded():
		return rule.Ended(s, start, end)
	}
	if record.Waiting {
		s = s.OnlyWaited()
	}
	next, _ := schedule.Retried(rule, s, h.Limits, record.Due.Sub(end), start, end)
	return next
}

// unsettle reads the record of an object for which nothing has happened, so that it can be written.
func (p *pass) unsettle() {
	if !p.settled {
		return
	}
	p.settled, p.essence = false, p.rules.Of(p.object.Object)
	if err := p.readRecord(p.store.Text(p.object.Object)); err != nil {
		p.log.Warn("the record of handlers can't be read: the last calls of crons are unknown", "record", p.store.String(), "error", err)
	}
	p.record.UID = p.object.GetUID()
}
