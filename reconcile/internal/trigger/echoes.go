package trigger

import (
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Echoes suppress the events of a reconcile's own writes, so that these events don't bring its object to reconcile
// again, see Wrote of request.Result. Each written state is kept until its event has come. The zero value is empty. It
// is safe for concurrent use.
type Echoes struct {
	mu   sync.Mutex
	keys map[deploy.Ref]*echo
}

// arrivedLimit bounds the events of children that are held back during one reconcile. Further events bring the object
// to reconcile.
const arrivedLimit = 256

// echo records events of one object's children that come during a reconcile, and the states that its last reconcile
// wrote.
type echo struct {
	// running: a reconcile is under way. arrived are the states of children that came meanwhile. Which of these states
	// the reconcile wrote is known only at its end.
	running bool
	arrived []request.Revision
	// wrote are the states that the last reconcile wrote and whose events haven't come.
	wrote []request.Revision
}

// Begin notes that a reconcile of key begins.
func (e *Echoes) Begin(key deploy.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.keys == nil {
		e.keys = map[deploy.Ref]*echo{}
	}
	e.keys[key] = &echo{running: true}
}

// End notes that the reconcile has ended and what it wrote. It reports whether other events have come meanwhile.
func (e *Echoes) End(key deploy.Ref, wrote []request.Revision) (others bool) {
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

// HoldsBack reports whether the event of a child of key must not bring key to reconcile now. This is so if the last
// reconcile of key wrote the child's state, or if a reconcile of key is under way: then End decides.
func (e *Echoes) HoldsBack(key deploy.Ref, event deploy.Event) bool {
	if event.Type != deploy.Added && event.Type != deploy.Modified {
		return false
	}
	state := request.Revision{UID: event.New.GetUID(), ResourceVersion: event.New.GetResourceVersion()}
	e.mu.Lock()
	defer e.mu.Unlock()
	now, known := e.keys[key]
	switch {
	case !known || state.ResourceVersion == "" || len(now.arrived) == arrivedLimit:
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

// take reports whether the last reconcile wrote the given state and its event hadn't come before.
func (e *echo) take(state request.Revision) bool {
	i := slices.Index(e.wrote, state)
	if i < 0 {
		return false
	}
	e.wrote = slices.Delete(e.wrote, i, i+1)
	return true
}

// Forget drops what is known of an object that is gone.
func (e *Echoes) Forget(key deploy.Ref) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.keys, key)
}

// ForgetKind drops what is known of the objects of a kind.
func (e *Echoes) ForgetKind(kind schema.GroupVersionKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.keys, func(key deploy.Ref, _ *echo) bool { return key.Kind == kind })
}
