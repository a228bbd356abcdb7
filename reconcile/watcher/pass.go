package watcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// pass is one pass over the object of a name.
type pass struct {
	*dispatcher
	ref     deploy.Ref
	members []*member
	entry   *entry
	// asOf is the number of the last event before the object was read.
	asOf uint64
	// waits has the watchers whose gate was full. stop is the first one of them that is to be called for the present
	// object: those after it wait with it.
	waits map[*member]bool
	stop  *member
	// next is the time until the next pass, zero for none. isDue: a call is left to be made. failed joins the errors of
	// watchers that have failed.
	next   time.Duration
	isDue  bool
	failed error
}

// over calls the watchers for the deletion of an earlier object.
func (p *pass) over(ctx context.Context) {
	for _, m := range p.members {
		p.begin(ctx, m, false, func(w *work.Work) (work.Call, bool) { return w.Over(p.Now()) })
	}
}

// live calls the watchers for the present object. It ends when an event shows that the object that was read isn't the
// present one, and at a watcher whose gate is full.
func (p *pass) live(ctx context.Context, object *work.Object) {
	p.prepare(object)
	for _, m := range p.members {
		drops := p.drops(m, object)
		after := p.begin(ctx, m, true, func(w *work.Work) (c work.Call, due bool) {
			if !p.entry.is(object) {
				return c, false
			}
			return w.Next(p.Now(), object, p.asOf, drops)
		})
		switch {
		case after != nil:
			object = after
		case p.waits[m] && !p.isOver(m):
			p.stop = m
			return
		}
	}
}

// isOver reports whether a watcher has still to be called for the deletion of an earlier object.
func (p *pass) isOver(m *member) bool {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	w := p.entry.works[m]
	return w != nil && w.IsOver()
}

// begin makes the call of a watcher that next returns, if one is due and the gate of the watcher isn't full. It returns
// the object as it is then, nil if no call was made. isThere: the call is for the present object.
func (p *pass) begin(ctx context.Context, m *member, isThere bool, next func(w *work.Work) (work.Call, bool)) *work.Object {
	if ctx.Err() != nil || m.removed.Load() || p.waits[m] || !p.mayBeDue(m, isThere) {
		return nil
	}
	if g := p.gates.of(m); g != nil {
		if !g.enter(p.ref) {
			p.wait(m)
			return nil
		}
		defer func() { p.invite(g, g.leave()) }()
	}
	w, c, due := p.take(m, next)
	if !due {
		return nil
	}
	return p.call(ctx, m, w, c)
}

// mayBeDue reports whether the time of a call has come.
func (p *pass) mayBeDue(m *member, isThere bool) bool {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	w := p.entry.works[m]
	if w == nil {
		return false
	}
	at, ok := w.Due(p.Now(), isThere)
	return ok && !at.After(p.Now())
}

func (p *pass) wait(m *member) {
	if p.waits == nil {
		p.waits = map[*member]bool{}
	}
	p.waits[m] = true
}

// take returns the call of a watcher that next returns.
func (p *pass) take(m *member, next func(w *work.Work) (work.Call, bool)) (w *work.Work, c work.Call, due bool) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	if w = p.entry.works[m]; w != nil {
		c, due = next(w)
	}
	return w, c, due
}

// prepare completes what is left to do before the calls: for a resync, and for a forced reconcile.
func (p *pass) prepare(object *work.Object) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	e, now := p.entry, p.Now()
	if !e.is(object) {
		return
	}
	isDue, isForced := p.settings.resync > 0 && !e.resync.IsZero() && !now.Before(e.resync), e.isForced
	if p.settings.resync > 0 && (e.resync.IsZero() || isDue) {
		e.resync = p.resyncAt(now)
	}
	e.isForced = false
	if !isDue && !isForced {
		return
	}
	for _, m := range p.members {
		w := e.of(m)
		w.Changed(p.asOf, object, object, work.Resync, true)
		if isForced {
			w.Hurry(now)
		}
	}
}

// call makes a call, and notes how it has ended. It returns the object as it is then.
func (p *pass) call(ctx context.Context, m *member, w *work.Work, c work.Call) *work.Object {
	a := &attempt{pass: p, member: m, call: c, object: c.Object}
	out := a.run(ctx)
	if out.Err != nil && lifecycle.Interrupted(ctx) {
		a.undo(w)
		return a.object
	}
	if verdict := a.record(w, out); out.Err != nil {
		a.report(ctx, out, verdict)
	}
	return a.object
}

// end drops what is done, and finds out when the next call is due, and what has failed. It reports whether object is
// still the present one; nil isn't. A watcher that waits is brought when its gate has a place.
func (p *pass) end(object *work.Object) (isThere bool) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	e, now, isStopped := p.entry, p.Now(), false
	isThere = e.is(object)
	for _, m := range p.members {
		isStopped = isStopped || m == p.stop
		w := e.works[m]
		if w == nil {
			continue
		}
		if at, ok := w.Due(now, isThere); ok {
			p.isDue = true
			if !p.waits[m] && (!isStopped || w.IsOver()) {
				p.next = lifecycle.Sooner(p.next, max(at.Sub(now), soon))
			}
		}
		if err := w.Err(); err != nil && isThere {
			p.failed = errors.Join(p.failed, fmt.Errorf("watcher %s: %w", m.name, err))
		}
		e.tidy(m)
	}
	if isThere && !e.resync.IsZero() {
		p.next = lifecycle.Sooner(p.next, max(e.resync.Sub(now), soon))
	}
	if object == nil {
		e.isForced = false // it is paused or gone
	}
	p.objects.tidy(p.ref, e)
	return isThere
}

// quit gives back the places that are kept for the object at the gates of watchers that aren't to be called.
func (p *pass) quit() {
	for _, m := range p.members {
		if g := p.gates.of(m); g != nil && !p.waits[m] {
			p.invite(g, g.decline(p.ref))
		}
	}
}
