package trigger

import (
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Channel is one of the ways on which the event of an object reaches a key: an event that comes on both comes twice.
type Channel int

// The ways.
const (
	// Owned: the key owns the object.
	Owned Channel = iota
	// Followed: the key follows the object.
	Followed
	channels
)

// triggers are what an event on a way means for the key.
var triggers = [channels]request.Triggers{Owned: request.Child, Followed: request.Followed}

// Echoes suppress the events of a reconcile's own writes, so that these events don't bring its object to reconcile
// again, see Wrote of request.Result. Each written state is kept until its event has come, on each of the ways on which
// it may come. The zero value is empty. It is safe for concurrent use.
type Echoes struct {
	mu   sync.Mutex
	keys map[deploy.Ref]*echo
}

// arrivedLimit bounds the events that are held back during one reconcile. Further events bring the object
// to reconcile.
const arrivedLimit = 256

// echo records events of the objects that one object owns or follows which come during a reconcile, and the states that
// its last reconcile wrote.
type echo struct {
	// running: a reconcile is under way. arrived are the states that came meanwhile. Which of these states the reconcile
	// wrote is known only at its end.
	running bool
	arrived []arrival
	// wrote are the states that the last reconcile wrote and whose events haven't come on a way.
	wrote [channels][]request.Revision
}

// arrival is the state of an object that came on a way.
type arrival struct {
	on    Channel
	state request.Revision
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

// End notes that the reconcile has ended and what it wrote. follows: the key follows objects, so that events may come
// on that way, too. It returns what other events that have come meanwhile mean, zero if there were none.
func (e *Echoes) End(key deploy.Ref, wrote []request.Revision, follows bool) (others request.Triggers) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, known := e.keys[key]
	if !known {
		return 0
	}
	now.running, now.wrote[Owned] = false, slices.Clone(wrote)
	if follows {
		now.wrote[Followed] = slices.Clone(wrote)
	}
	for _, one := range now.arrived {
		if !now.take(one.on, one.state) {
			others |= triggers[one.on]
		}
	}
	now.arrived = nil
	e.drop(key, now)
	return others
}

// HoldsBack reports whether the event of an object that reaches key on a way must not bring key to reconcile now. This
// is so if the last reconcile of key wrote the object's state, or if a reconcile of key is under way: then End decides.
func (e *Echoes) HoldsBack(key deploy.Ref, on Channel, event deploy.Event) bool {
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
		now.arrived = append(now.arrived, arrival{on, state})
		return true
	case !now.take(on, state):
		return false
	}
	e.drop(key, now)
	return true
}

// drop drops what is known of a key for which no event is to come any more.
func (e *Echoes) drop(key deploy.Ref, now *echo) {
	if len(now.wrote[Owned])+len(now.wrote[Followed]) == 0 {
		delete(e.keys, key)
	}
}

// take reports whether the last reconcile wrote the given state and its event hadn't come on that way before.
func (e *echo) take(on Channel, state request.Revision) bool {
	i := slices.Index(e.wrote[on], state)
	if i < 0 {
		return false
	}
	e.wrote[on] = slices.Delete(e.wrote[on], i, i+1)
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
