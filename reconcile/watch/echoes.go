package watch

import (
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// echoes keep the events of what a reconcile has written itself from bringing its object to reconcile once more: request.Result
// says what that is. Each state is kept until its event has come, so at rest nothing is. The zero value is ready for use; it
// is safe for concurrent use.
type echoes struct {
	mu   sync.Mutex
	keys map[deploy.Ref]*echo
}

// mostArrived is how many events of children are kept apart during one reconcile. With more the object comes once more anyway.
const mostArrived = 256

// echo is what is known of one object's children.
type echo struct {
	// running: a reconcile is under way. arrived are the states that came meanwhile: only its end tells which were its own.
	running bool
	arrived []request.State
	// wrote are the states that the last reconcile left, as far as their events haven't come.
	wrote []request.State
}

// begin notes that a reconcile of key begins.
func (e *echoes) begin(key deploy.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.keys == nil {
		e.keys = map[deploy.Ref]*echo{}
	}
	e.keys[key] = &echo{running: true}
}

// end notes that it has ended and what it wrote. It tells whether something else has come meanwhile.
func (e *echoes) end(key deploy.Ref, wrote []request.State) (others bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, known := e.keys[key]
	if !known {
		return false
	}
	now.running, now.wrote = false, slices.Clone(wrote)
	for _, state := range now.arrived {
		others = !now.take(state) || others
	}
	now.arrived = nil
	if len(now.wrote) == 0 {
		delete(e.keys, key)
	}
	return others
}

// keeps tells whether the event of a child of key needn't bring that, by now: it is one of its own writes, or a reconcile is
// under way of whose end that depends.
func (e *echoes) keeps(key deploy.Ref, event deploy.Event) bool {
	if event.Type != deploy.Added && event.Type != deploy.Modified {
		return false
	}
	state := request.State{UID: event.New.GetUID(), ResourceVersion: event.New.GetResourceVersion()}
	e.mu.Lock()
	defer e.mu.Unlock()
	now, known := e.keys[key]
	switch {
	case !known || state.ResourceVersion == "" || len(now.arrived) == mostArrived:
		return false
	case now.running:
		now.arrived = append(now.arrived, state)
		return true
	case !now.take(state):
		return false
	case len(now.wrote) == 0:
		delete(e.keys, key)
	}
	return true
}

// take tells whether a state was written by the reconcile that ended last. Its event has come then.
func (e *echo) take(state request.State) bool {
	i := slices.Index(e.wrote, state)
	if i < 0 {
		return false
	}
	e.wrote = slices.Delete(e.wrote, i, i+1)
	return true
}

// forget drops what is known of an object that is gone.
func (e *echoes) forget(key deploy.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.keys, key)
}
