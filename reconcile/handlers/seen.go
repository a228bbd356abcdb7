package handlers

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/logging"
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

// tellSeen calls the handlers of Seen for the events of an object, and writes what they have set.
func (r *reconciler) tellSeen(ctx context.Context, ref deploy.Ref) {
	for _, event := range r.seen.take(ref) {
		if _, rests := r.Paused(ctx, event.New); rests || lifecycle.Interrupted(ctx) {
			continue
		}
		log := logging.Scoped(ctx, r.LoggerFor(event.New)).With("object", ref)
		p := &pass{
			reconciler: r, ref: ref, object: event.New, known: r.objects.of(ref, event.New.GetUID()), log: log, began: r.Now(),
			essence: r.rules.Of(event.New.Object), conditions: r.Visit(event.New, log), settled: true, // nothing is recorded
			needsFinalizer: true, // only the pass over the object knows whether it is needed
		}
		p.tellEvent(ctx, event.Type)
		if event.Type == deploy.Deleted {
			r.objects.forget(ref) // it was forgotten before this pass
			continue
		}
		if p.outcome.isEmpty() {
			continue
		}
		if err := p.write(ctx); err != nil {
			log.Warn("what a handler of an event has set can't be written", "error", err)
			p.known.unwritten = nil
		}
	}
}

// tellEvent calls the handlers of Seen for an event.
func (p *pass) tellEvent(ctx context.Context, event deploy.EventType) {
	for _, h := range p.handlers {
		if h.On&selection.Seen == 0 || !selection.Called(h.Handler, p.about()) {
			continue
		}
		a := &attempt{pass: p, handler: h, event: event}
		if err := a.run(ctx); err != nil {
			p.log.Warn("a handler of an event has failed, the event isn't repeated", "handler", h.ID, "event", event, "error", err)
		}
		p.outcome.updates = append(p.outcome.updates, a.updates...)
		if a.hasResult {
			p.outcome.setResult(h.ID, a.result)
		}
	}
}
