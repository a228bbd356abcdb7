package watch

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inbox queues events until they are processed, one after the other. Waiting updates of one object are merged: when one
// of them has brought the object to reconcile, the others are processed as a single update.
type inbox struct {
	wake chan struct{}
	// over is closed when events are no longer processed.
	over chan struct{}

	mu       sync.Mutex
	arrivals []arrival
	// looking is the number of arrivals that are being processed.
	looking int
	// latest is the index of the arrival that has the latest state of an object.
	latest map[*unstructured.Unstructured]int
}

// arrival is an event with the later updates of its object; or a channel of drain, which is closed when the arrival is
// reached.
type arrival struct {
	watcher *watcher
	event   deploy.Event
	listing bool
	updates []*unstructured.Unstructured
	mark    chan struct{}
}

// watcher processes the events of one subject.
type watcher struct {
	// look processes an event, and reports whether the event has brought its object to reconcile. listing: the existing
	// objects were being listed.
	look func(event deploy.Event, listing bool) (brought bool)
	// tell, if not nil, is called for every event, even if events are merged.
	tell func(event deploy.Event)
	// apart: events aren't merged.
	apart bool
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), over: make(chan struct{}), latest: map[*unstructured.Unstructured]int{}}
}

// add takes an event.
func (b *inbox) add(w *watcher, event deploy.Event, listing bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !w.apart && event.Type == deploy.Modified {
		if i, ok := b.latest[event.Old]; ok && b.arrivals[i].watcher == w {
			delete(b.latest, event.Old)
			b.latest[event.New] = i
			b.arrivals[i].updates = append(b.arrivals[i].updates, event.New)
			return
		}
	}
	if !w.apart && (event.Type == deploy.Added || event.Type == deploy.Modified) {
		b.latest[event.New] = len(b.arrivals)
	}
	b.put(arrival{watcher: w, event: event, listing: listing})
}

func (b *inbox) put(a arrival) {
	b.arrivals = append(b.arrivals, a)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// drain waits until the events that came before the call have been processed.
func (b *inbox) drain(ctx context.Context) error {
	mark := make(chan struct{})
	b.mu.Lock()
	b.put(arrival{mark: mark})
	b.mu.Unlock()
	select {
	case <-mark:
		return nil
	case <-b.over:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// size returns how many events haven't been processed, including the events that are being processed.
func (b *inbox) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.arrivals) + b.looking
}

// run processes the events until ctx ends.
func (b *inbox) run(ctx context.Context) {
	defer close(b.over)
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		b.mu.Lock()
		arrivals := b.arrivals
		b.arrivals, b.looking = nil, len(arrivals)
		clear(b.latest)
		b.mu.Unlock()
		for _, a := range arrivals {
			if ctx.Err() != nil {
				return
			}
			a.look()
		}
		b.mu.Lock()
		b.looking = 0
		b.mu.Unlock()
	}
}

// look calls the watcher for an arrival.
func (a arrival) look() {
	if a.mark != nil {
		close(a.mark)
		return
	}
	if tell := a.watcher.tell; tell != nil {
		tell(a.event)
		before := a.event.New
		for _, after := range a.updates {
			tell(deploy.Event{Type: deploy.Modified, Old: before, New: after})
			before = after
		}
	}
	brought, before := a.watcher.look(a.event, a.listing), a.event.New
	for len(a.updates) > 0 {
		after := a.updates[0]
		if a.updates = a.updates[1:]; brought && len(a.updates) > 0 {
			// The object will be reconciled anyway. The merged updates may make that more urgent, or reset the backoff.
			after, a.updates = a.updates[len(a.updates)-1], nil
		}
		brought = a.watcher.look(deploy.Event{Type: deploy.Modified, Old: before, New: after}, a.listing) || brought
		before = after
	}
}
