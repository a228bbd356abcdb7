package engine

import (
	"sync"

	"github.com/operkit/operkit/deploy"
)

// queue holds events of objects for which handlers weren't called yet, in order. The zero value is empty. It is safe
// for concurrent use.
type queue[E any] struct {
	// most is the number of events of an object that are kept, the newest ones; 0 for all.
	most int

	mu     sync.Mutex
	events map[deploy.Ref][]E
}

// add adds events of an object.
func (q *queue[E]) add(ref deploy.Ref, events ...E) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set(ref, append(q.events[ref], events...))
}

// drain removes the events of an object, and returns them.
func (q *queue[E]) drain(ref deploy.Ref) []E {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events[ref]
	delete(q.events, ref)
	return events
}

// putBack adds events that were drained, before those that came since.
func (q *queue[E]) putBack(ref deploy.Ref, events []E) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set(ref, append(events, q.events[ref]...))
}

// drop removes the events of an object, unless isKept is true for the last one. A nil isKept is always false.
func (q *queue[E]) drop(ref deploy.Ref, isKept func(last E) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if events := q.events[ref]; len(events) > 0 && (isKept == nil || !isKept(events[len(events)-1])) {
		delete(q.events, ref)
	}
}

func (q *queue[E]) set(ref deploy.Ref, events []E) {
	if len(events) == 0 {
		return
	}
	if q.most > 0 && len(events) > q.most {
		events = append([]E(nil), events[len(events)-q.most:]...)
	}
	if q.events == nil {
		q.events = map[deploy.Ref][]E{}
	}
	q.events[ref] = events
}
