package dryrun

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
)

// subscription keeps the events of a kind in their order until its handler takes them. The
// queue has no bound: a slow handler holds up nobody.
type subscription struct {
	ctx      context.Context
	declared *declaration
	// options say which objects it is about.
	options WatchOptions
	handle  func(deploy.Event)
	// initial is how many events stand for the objects that existed.
	initial int
	synced  chan struct{}
	wake    chan struct{}

	mu    sync.Mutex
	queue []deploy.Event
}

func newSubscription(ctx context.Context, d *declaration, options WatchOptions, handle func(deploy.Event)) *subscription {
	return &subscription{ctx: ctx, declared: d, options: options, handle: handle, synced: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// Synced implements deploy.Subscription.
func (s *subscription) Synced(ctx context.Context) error {
	select {
	case <-s.synced:
		return nil
	default:
	}
	select {
	case <-s.synced:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *subscription) push(event deploy.Event) {
	event, ok := s.seenBy(event)
	if !ok {
		return
	}
	s.mu.Lock()
	s.queue = append(s.queue, event)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscription) take() []deploy.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.queue
	s.queue = nil
	return events
}

// run hands over events, one after the other, until the context ends.
func (s *subscription) run() {
	if s.initial == 0 {
		close(s.synced)
	}
	handled := 0
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		}
		for _, event := range s.take() {
			if s.ctx.Err() != nil {
				return
			}
			s.handle(s.inVersion(event))
			if handled++; handled == s.initial {
				close(s.synced)
			}
		}
	}
}

// inVersion is the event for a subscriber to the kind of its declaration.
func (s *subscription) inVersion(event deploy.Event) deploy.Event {
	own := deploy.Event{Type: event.Type, New: shared(event.New, s.declared)}
	switch {
	case event.Old == event.New:
		own.Old = own.New
	case event.Old != nil:
		own.Old = shared(event.Old, s.declared)
	}
	return own
}
