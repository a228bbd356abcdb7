package main

import (
	"sync"

	"github.com/operkit/operkit/deploy"
)

// feed buffers the events of subscriptions until the narrating goroutine takes them, since a subscription's handler
// must not block. It is safe for concurrent use.
type feed struct {
	// ready gets a value when there are events to take.
	ready chan struct{}

	mu     sync.Mutex
	events []deploy.Event
}

func newFeed() *feed { return &feed{ready: make(chan struct{}, 1)} }

func (f *feed) put(event deploy.Event) {
	f.mu.Lock()
	f.events = append(f.events, event)
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default: // it has one already
	}
}

// take returns the events since the last call, oldest first.
func (f *feed) take() []deploy.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}
