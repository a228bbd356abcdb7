package cluster

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/internal/mailbox"
)

// subscription calls a handler with the events of a kind, one after the other.
type subscription struct {
	ctx    context.Context
	kind   *watchedKind
	handle func(deploy.Event)
	// synced means that the handler has been called for all objects that existed at the beginning.
	synced  atomic.Bool
	waiting *mailbox.Mailbox[delivery]
}

// delivery is an event, or a channel (mark) to close after all earlier events have been handled.
type delivery struct {
	event deploy.Event
	mark  chan struct{}
}

// subscribe calls handle for the existing objects and for all later events, until ctx or the context of the store ends.
func (k *watchedKind) subscribe(ctx context.Context, handle func(deploy.Event)) *subscription {
	s := &subscription{ctx: ctx, kind: k, handle: handle, waiting: mailbox.New[delivery]()}
	k.publishing.Lock()
	defer k.publishing.Unlock()
	for _, obj := range k.known() {
		s.waiting.Put(delivery{event: deploy.Event{Type: deploy.Added, New: obj}})
	}
	k.subscriptions = append(k.subscriptions, s)
	k.store.running.Go(func() { s.run(k.store.ctx) })
	return s
}

func (s *subscription) run(life context.Context) {
	defer s.end()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-life.Done():
			return
		case <-s.waiting.Filled():
		}
		for _, d := range s.waiting.Take() {
			switch {
			case s.ctx.Err() != nil || life.Err() != nil:
				return
			case d.mark != nil:
				close(d.mark)
			default:
				s.handle(d.event)
			}
		}
	}
}

func (s *subscription) end() {
	s.kind.remove(s)
	s.kind.store.unwatch(s.kind)
}

func (k *watchedKind) remove(s *subscription) {
	k.publishing.Lock()
	defer k.publishing.Unlock()
	if at := slices.Index(k.subscriptions, s); at >= 0 {
		k.subscriptions = slices.Delete(k.subscriptions, at, at+1)
	}
}

// Synced implements deploy.Subscription.
func (s *subscription) Synced(ctx context.Context) error {
	if s.synced.Load() {
		return nil
	}
	if err := s.kind.awaitSynced(ctx); err != nil {
		return err
	}
	mark := make(chan struct{})
	s.waiting.Put(delivery{mark: mark})
	select {
	case <-mark:
		s.synced.Store(true)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-s.kind.store.ctx.Done():
		return context.Cause(s.kind.store.ctx)
	}
}
