package watcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
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
	// next is the time until the next pass, zero for none. isDue: a call is left to be made. failed joins the errors of
	// watchers that have failed.
	next   time.Duration
	isDue  bool
	failed error
}

// attempt is one call of a watcher.
type attempt struct {
	*pass
	member *member
	call   work.Call
	// object is the object as it is now. written is its last state in which the attempt has changed nothing but
	// finalizers since the call, nil if it has written none. isGone: it was gone at a write.
	object, written *work.Object
	isGone          bool
	// memo is kept for the next call, if this one fails.
	memo any
}

// errNilObject is the error of a call for an event without an object.
var errNilObject = request.Permanent(errors.New("nil object: the event has none"))

// attemptKey is the key of the attempt in the context of a call.
type attemptKey struct{}

// over calls the watchers for the deletion of an earlier object.
func (p *pass) over(ctx context.Context) {
	for _, m := range p.members {
		if w, c, due := p.overOf(ctx, m); due {
			p.call(ctx, m, w, c)
		}
	}
}

// overOf returns the call of a watcher for the deletion of an earlier object, if one is due.
func (p *pass) overOf(ctx context.Context, m *member) (w *work.Work, c work.Call, due bool) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	if w = p.entry.works[m]; w != nil && ctx.Err() == nil && !m.removed.Load() {
		c, due = w.Over(p.Now())
	}
	return w, c, due
}

// live calls the watchers for the present object. It ends when an event shows that the object that was read isn't the
// present one.
func (p *pass) live(ctx context.Context, object *work.Object, isForced bool) {
	p.prepare(object, isForced)
	for _, m := range p.members {
		if w, c, due := p.nextOf(ctx, m, object); due {
			object = p.call(ctx, m, w, c)
		}
	}
}

// nextOf returns the call of a watcher for the present object, if one is due.
func (p *pass) nextOf(ctx context.Context, m *member, object *work.Object) (w *work.Work, c work.Call, due bool) {
	_, dequeue := m.policies(p.settings)
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	if w = p.entry.works[m]; w != nil && ctx.Err() == nil && p.entry.is(object) && !m.removed.Load() {
		c, due = w.Next(p.Now(), object, p.asOf, guarded(dequeue))
	}
	return w, c, due
}

// prepare completes what is left to do before the calls: for a resync, and for a forced reconcile.
func (p *pass) prepare(object *work.Object, isForced bool) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	e, now := p.entry, p.Now()
	if !e.is(object) {
		return
	}
	isDue := p.settings.resync > 0 && !e.resync.IsZero() && !now.Before(e.resync)
	if p.settings.resync > 0 && (e.resync.IsZero() || isDue) {
		e.resync = p.resyncAt(now)
	}
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

// guarded returns a policy whose panic is a no.
func guarded(policy DequeuePolicy) DequeuePolicy {
	if policy == nil {
		return nil
	}
	return func(q Question) bool {
		drop, _ := failure.Value(func() (bool, error) { return policy(q), nil })
		return drop
	}
}

// turn makes a call, and notes how it has ended. It returns the object as it is then.
func (p *pass) call(ctx context.Context, m *member, w *work.Work, c work.Call) *work.Object {
	a := &attempt{pass: p, member: m, call: c, object: c.Object}
	out, called := a.run(ctx)
	verdict := a.record(w, out, called, out.Err != nil && lifecycle.Interrupted(ctx))
	if verdict != nil && out.Err != nil {
		a.report(ctx, out.Err, *verdict)
	}
	return a.object
}

// record notes how the call has ended. It returns nil for a call that is due again.
func (a *attempt) record(w *work.Work, out work.Outcome, wasMade, isInterrupted bool) *work.Verdict {
	retry, _ := a.member.policies(a.settings)
	retry = guardedRetry(retry)
	if len(a.member.finalizers) > 0 && a.call.Object != nil && a.call.Object.GetDeletionTimestamp() != nil {
		retry = lasting(retry)
	}
	a.objects.mu.Lock()
	defer a.objects.mu.Unlock()
	if !wasMade || isInterrupted {
		w.Undo(a.call, a.Now(), wasMade)
		return nil
	}
	verdict := w.Done(a.call, out, a.Now(), retry)
	return &verdict
}

// lasting returns the policy that goes on with the last delay of a policy when that gives up. A policy that never
// repeats stays as it is.
func lasting(policy RetryPolicy) RetryPolicy {
	if policy == nil {
		return nil
	}
	return func(err error, attempt int) (time.Duration, bool) {
		for ; attempt >= 0; attempt-- {
			if after, again := policy(err, attempt); again {
				return after, true
			}
		}
		return 0, false
	}
}

func guardedRetry(policy RetryPolicy) RetryPolicy {
	if policy == nil {
		return nil
	}
	return func(err error, attempt int) (after time.Duration, again bool) {
		if failure.Guard(func() error { after, again = policy(err, attempt); return nil }) != nil {
			return DefaultRetry()(err, attempt)
		}
		return after, again
	}
}

// run calls the watcher when it has a free slot. called is false if there was none until ctx ended.
func (a *attempt) run(ctx context.Context) (out work.Outcome, called bool) {
	if a.member.slots != nil {
		select {
		case a.member.slots <- struct{}{}:
			defer func() { <-a.member.slots }()
		case <-ctx.Done():
			return out, false
		}
	}
	if a.member.removed.Load() {
		return out, false
	}
	err := failure.Guard(func() error {
		if a.call.Object == nil || a.call.Action == Updated && a.call.Old == nil {
			return errNilObject
		}
		out = a.member.call(ctx, a)
		return nil
	})
	if err != nil {
		out = work.Outcome{Err: err, Memo: a.memo, Object: a.written}
	}
	if err := failure.Guard(func() error { out.IsFinal, out.Delay = meaning(out.Err); return nil }); err != nil {
		out.Err = err // the error of a watcher may panic when it is looked at
	}
	return out, true
}

// meaning returns whether an error is permanent, and the time until the next try that it sets.
func meaning(err error) (isFinal bool, delay time.Duration) {
	if err == nil {
		return false, 0
	}
	m := request.Resolve(err)
	return m.Permanent, m.RetryAfter
}

// end drops what is done, and finds out when the next call is due, and what has failed. It reports whether object is
// still the present one; nil isn't.
func (p *pass) end(object *work.Object) (isThere bool) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	e, now := p.entry, p.Now()
	isThere = e.is(object)
	for _, m := range p.members {
		w := e.works[m]
		if w == nil {
			continue
		}
		if at, ok := w.Due(now, isThere); ok {
			p.next, p.isDue = lifecycle.Sooner(p.next, max(at.Sub(now), soon)), true
		}
		if err := w.Err(); err != nil && isThere {
			p.failed = errors.Join(p.failed, fmt.Errorf("watcher %s: %w", m.name, err))
		}
		e.tidy(m)
	}
	if isThere && !e.resync.IsZero() {
		p.next = lifecycle.Sooner(p.next, max(e.resync.Sub(now), soon))
	}
	if e.uid == "" && e.works == nil && p.objects.entries[p.ref] == e {
		delete(p.objects.entries, p.ref)
	}
	return isThere
}
