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
	*reconciler
	ref     deploy.Ref
	members []*member
	entry   *entry
	// asOf is the number of the last event before the object was read.
	asOf uint64
	// next is the time until the next call, zero for none. failed joins the errors of watchers that have failed.
	next   time.Duration
	failed error
}

// turn is one call of a watcher.
type turn struct {
	*pass
	member *member
	call   work.Call
	// object is the object as it is now. written is its last state in which the turn has changed nothing but finalizers
	// since the call, nil if it has written none. isGone: it was gone at a write.
	object, written *work.Object
	isGone          bool
	// memo is kept for the next call, if this one fails.
	memo any
}

// errNilObject is the error of a call for an event without an object.
var errNilObject = request.Permanent(errors.New("nil object: the event has none"))

// turnKey is the key of the turn in the context of a call.
type turnKey struct{}

// over calls the watchers for the deletion of an earlier object.
func (p *pass) over(ctx context.Context) {
	for _, m := range p.members {
		p.locked(func() {
			w := p.entry.works[m]
			if w == nil || ctx.Err() != nil {
				return
			}
			if c, due := w.Over(p.Now()); due {
				p.turn(ctx, m, w, c)
			}
		})
	}
}

// live calls the watchers for the present object.
func (p *pass) live(ctx context.Context, object *work.Object, isForced bool) {
	p.locked(func() { p.prepare(object, isForced) })
	for _, m := range p.members {
		p.locked(func() {
			w := p.entry.works[m]
			if w == nil || ctx.Err() != nil {
				return
			}
			_, dequeue := m.policies(p.settings)
			if c, due := w.Next(p.Now(), object, p.asOf, guarded(dequeue)); due {
				object = p.turn(ctx, m, w, c)
			}
		})
	}
	for _, m := range p.members {
		p.locked(func() {
			if w := p.entry.works[m]; w != nil && w.Err() != nil {
				p.failed = errors.Join(p.failed, fmt.Errorf("watcher %s: %w", m.name, w.Err()))
			}
		})
	}
}

// prepare completes what is left to do before the calls: for an object of which no event has come yet, for a resync,
// and for a forced reconcile.
func (p *pass) prepare(object *work.Object, isForced bool) {
	e, now := p.entry, p.Now()
	if e.uid == "" {
		e.created(object.GetUID(), p.members, all(p.members))
		e.version = object.GetResourceVersion()
		e.events++
		p.asOf = e.events
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

// turn makes a call, without the lock, and notes how it has ended. It returns the object as it is then.
func (p *pass) turn(ctx context.Context, m *member, w *work.Work, c work.Call) *work.Object {
	p.objects.mu.Unlock()
	t := &turn{pass: p, member: m, call: c, object: c.Object}
	out, called := t.run(ctx)
	p.objects.mu.Lock()
	if !called || out.Err != nil && lifecycle.Interrupted(ctx) {
		w.Undo(c, p.Now())
		return t.object
	}
	retry, _ := m.policies(p.settings)
	verdict := w.Done(c, out, p.Now(), guardedRetry(retry))
	if out.Err != nil {
		p.objects.mu.Unlock()
		t.report(ctx, out.Err, verdict)
		p.objects.mu.Lock()
	}
	return t.object
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
func (t *turn) run(ctx context.Context) (out work.Outcome, called bool) {
	if t.member.slots != nil {
		select {
		case t.member.slots <- struct{}{}:
			defer func() { <-t.member.slots }()
		case <-ctx.Done():
			return out, false
		}
	}
	err := failure.Guard(func() error {
		if t.call.Object == nil || t.call.Action == Updated && t.call.Old == nil {
			return errNilObject
		}
		out = t.member.call(ctx, t)
		return nil
	})
	if err != nil {
		out = work.Outcome{Err: err, Memo: t.memo, Object: t.written}
	}
	if out.Err != nil {
		meaning := request.Resolve(out.Err)
		out.IsFinal, out.Delay = meaning.Permanent, meaning.RetryAfter
	}
	return out, true
}

// end drops what is done, and returns the time until the next call.
func (p *pass) end(isThere bool) time.Duration {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	e, now := p.entry, p.Now()
	for _, m := range p.members {
		if w := e.works[m]; w != nil {
			if at, ok := w.Due(now, isThere); ok {
				p.next = lifecycle.Sooner(p.next, max(at.Sub(now), soon))
			}
			e.tidy(m)
		}
	}
	if isThere && !e.resync.IsZero() {
		p.next = lifecycle.Sooner(p.next, max(e.resync.Sub(now), soon))
	}
	if e.uid == "" && e.works == nil && p.objects.entries[p.ref] == e {
		delete(p.objects.entries, p.ref)
	}
	return p.next
}

// locked runs f with the lock of the objects, which f may give away meanwhile.
func (p *pass) locked(f func()) {
	p.objects.mu.Lock()
	defer p.objects.mu.Unlock()
	f()
}
