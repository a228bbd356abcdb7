package watch

import (
	"context"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inbox takes events without looking at them, and has them looked at one after the other. Updates of one object that come
// faster than that stay together: once one of them has brought the object to reconcile, of the others only counts what
// they come to.
type inbox struct {
	wake chan struct{}
	// over is closed when nobody looks any more.
	over chan struct{}

	mu       sync.Mutex
	arrivals []arrival
	// looking is how many have been taken out to be looked at.
	looking int
	// latest is where the latest state of an object stands among the arrivals.
	latest map[*unstructured.Unstructured]int
}

// arrival is an event, with the updates of its object that followed; or a mark that is closed when it is its turn.
type arrival struct {
	watcher *watcher
	event   deploy.Event
	listing bool
	updates []*unstructured.Unstructured
	mark    chan struct{}
}

// watcher looks at the events of a kind that is watched for one reason.
type watcher struct {
	// look tells whether an event has brought its object to reconcile. listing: the objects that exist were being listed.
	look func(event deploy.Event, listing bool) (brought bool)
	// tell, if there is one, is told of every event before any of those that stay together is looked at.
	tell func(event deploy.Event)
	// apart: events don't stay together, each has to be looked at.
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

// settle waits until everything has been looked at that has come before.
func (b *inbox) settle(ctx context.Context) error {
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

// size is how much hasn't been looked at yet, what is being looked at included.
func (b *inbox) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.arrivals) + b.looking
}

// run has everything looked at until ctx ends.
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

// look has an arrival looked at.
func (a arrival) look() {
	if a.mark != nil {
		close(a.mark)
		return
	}
	a.tell()
	brought, before := a.watcher.look(a.event, a.listing), a.event.New
	for len(a.updates) > 0 {
		after := a.updates[0]
		if a.updates = a.updates[1:]; brought && len(a.updates) > 0 {
			// It will be reconciled anyway. What all that comes to may make it more urgent, or a new beginning.
			after, a.updates = a.updates[len(a.updates)-1], nil
		}
		brought = a.watcher.look(deploy.Event{Type: deploy.Modified, Old: before, New: after}, a.listing) || brought
		before = after
	}
}

func (a arrival) tell() {
	if a.watcher.tell == nil {
		return
	}
	a.watcher.tell(a.event)
	before := a.event.New
	for _, after := range a.updates {
		a.watcher.tell(deploy.Event{Type: deploy.Modified, Old: before, New: after})
		before = after
	}
}
