package dryrun

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/mailbox"
)

// subscription hands the events of a kind to its handler, one after the other.
type subscription struct {
	ctx      context.Context
	declared *declaration
	// options say which objects it is about.
	options WatchOptions
	handle  func(deploy.Event)
	// initial is how many events stand for the objects that existed.
	initial int
	synced  chan struct{}
	waiting *mailbox.Mailbox[deploy.Event]
}

func newSubscription(ctx context.Context, d *declaration, options WatchOptions, handle func(deploy.Event)) *subscription {
	return &subscription{ctx: ctx, declared: d, options: options, handle: handle, synced: make(chan struct{}), waiting: mailbox.New[deploy.Event]()}
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
	if event, ok := s.seenBy(event); ok {
		s.waiting.Put(event)
	}
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
		case <-s.waiting.Filled():
		}
		for _, event := range s.waiting.Take() {
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
