package handlers

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
)

// seen are the events that handlers of Seen weren't called for yet. The zero value is empty.
type seen struct {
	// wanted: there are such handlers.
	wanted bool

	mu     sync.Mutex
	events map[deploy.Ref][]deploy.Event
}

// Observe implements watch.Observer. It queues the event for the next pass, which the event brings.
func (r *reconciler) Observe(event deploy.Event) {
	if !r.seen.wanted {
		return
	}
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	ref := deploy.RefOf(event.New)
	if event.Type == deploy.Left {
		delete(r.seen.events, ref)
		return
	}
	if r.seen.events == nil {
		r.seen.events = map[deploy.Ref][]deploy.Event{}
	}
	r.seen.events[ref] = append(r.seen.events[ref], event)
}

func (s *seen) take(ref deploy.Ref) []deploy.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events[ref]
	delete(s.events, ref)
	return events
}

// callSeen calls the handlers of Seen for the queued events of an object.
func (r *reconciler) callSeen(ctx context.Context, ref deploy.Ref) {
	for _, event := range r.seen.take(ref) {
		if _, rests := r.Paused(ctx, event.New); rests || lifecycle.Interrupted(ctx) {
			continue
		}
		w := newWork(ctx, r, event.New, r.objects.of(ref, event.New.GetUID()))
		w.callForEvent(ctx, selection.Seen, string(event.Type), func(a *attempt) { a.event = event.Type })
		if event.Type == deploy.Deleted {
			r.objects.forget(ref) // it was forgotten before this pass
		}
	}
}

// callForEvent calls the handlers of an event that are about the object, and writes what each has set. set completes the
// attempts.
func (w *work) callForEvent(ctx context.Context, on selection.On, event string, set func(a *attempt)) {
	about := selection.Object{Body: w.object.Object}
	for _, h := range w.handlers {
		if h.On&on == 0 || !selection.Sees(h.Handler, about) {
			continue
		}
		a := &attempt{work: w, handler: h}
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
