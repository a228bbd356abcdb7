package engine

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
)

// seen are the events that handlers of Seen weren't called for yet. The zero value is empty.
type seen struct {
	// wanted: there are such handlers.
	wanted bool
	queue[seenEvent]
}

// seenEvent is an event, with what the process remembers of its object: it is forgotten before the handlers are called
// for its deletion.
type seenEvent struct {
	deploy.Event
	known *object
}

// isLast reports whether no event of the same object can follow.
func (e seenEvent) isLast() bool { return e.Type == deploy.Deleted }

// Observe implements watch.Observer. It queues the event for the next pass, which the event brings.
func (r *Reconciler) Observe(event deploy.Event) {
	if !r.seen.wanted {
		return
	}
	ref := deploy.RefOf(event.New)
	if event.Type == deploy.Left {
		r.seen.drain(ref)
		return
	}
	r.seen.add(ref, seenEvent{event, r.objects.of(ref, event.New.GetUID())})
}

// callSeen calls the handlers of Seen for the queued events of an object. When the time of ctx is over, the others wait
// for the next pass.
func (r *Reconciler) callSeen(ctx context.Context, ref deploy.Ref) {
	events := r.seen.drain(ref)
	for i, event := range events {
		if ctx.Err() != nil {
			r.seen.putBack(ref, events[i:])
			return
		}
		if _, rests := r.Paused(ctx, event.New); rests {
			continue
		}
		w := newWork(ctx, r, event.New, event.known)
		w.callForEvent(ctx, selection.Seen, string(event.Type), func(a *Attempt) { a.Event = event.Type })
	}
}

// callForEvent calls the handlers of an event that are about the object, and writes what each has set. set completes
// the attempts.
func (w *work) callForEvent(ctx context.Context, on selection.On, event string, set func(a *Attempt)) {
	about := selection.Object{Body: w.object.Object}
	for _, h := range w.handlers {
		if h.On&on == 0 || !selection.Sees(h.Handler, about) {
			continue
		}
		a := &Attempt{work: w, Handler: h}
		set(a)
		err := a.run(ctx)
		if err != nil {
			w.log.Warn("a handler of an event has failed, the event isn't repeated", "handler", h.ID, "event", event, "error", err)
		}
		w.collect(a, err == nil)
		if err := w.writeOnce(ctx); err != nil {
			w.log.Warn("what a handler of an event has set can't be written", "handler", h.ID, "event", event, "error", err)
		}
	}
}

// writeOnce writes the outcome, and drops it.
func (w *work) writeOnce(ctx context.Context) error {
	if w.outcome.isEmpty() {
		return nil
	}
	ctx, cancel := lastWords(ctx)
	defer cancel()
	err := w.writeAside(ctx)
	w.outcome, w.conditions = outcome{}, w.Visit(w.object, w.log)
	return err
}
