package reconciletest

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// concerns reports whether an event is one of this test: a real cluster may have other objects, in other namespaces.
func (e *events) concerns(event deploy.Event) bool {
	namespace := event.New.GetNamespace()
	return e.memory != nil || namespace == "" || namespace == e.options.namespace || e.applied[deploy.RefOf(event.New)]
}

// ofResource handles the events of a controlled kind.
func (e *events) ofResource(d *driven) func(happened) {
	return func(h happened) {
		event := h.Event
		if ref := deploy.RefOf(event.New); !e.mine(ref) || e.away[ref] {
			return
		}
		d.rules.IndexOwn(event)
		d.hooks.Observed(event)
		key, anew := e.owners.Observe(d.kind, event)
		if event.Type == deploy.Deleted || event.Type == deploy.Left {
			d.hooks.Forget(key)
		}
		counts, forced := d.rules.Counts(event)
		switch {
		case counts:
			e.mark(key, trigger.Why(event, h.listing, forced), h.at, anew || forced)
		case event.Type == deploy.Deleted, event.Type == deploy.Left:
			delete(e.queue, key)
			e.followers.Drop(key)
			e.echoes.Forget(key)
		}
	}
}

// ofChild handles the events of children of a kind of owners.
func (e *events) ofChild(owner, child schema.GroupVersionKind) func(happened) {
	d := e.controlling(owner)
	return func(h happened) {
		if d != nil && !d.rules.CountsOwned(child, h.Event) {
			return
		}
		for _, key := range e.owners.Of(owner, h.Event) {
			if !e.echoes.HoldsBack(key, trigger.Owned, h.Event) {
				e.bring(key, request.Child, h.at)
			}
		}
	}
}

// ofMapped handles the events of a mapped kind. Objects that exist at the start concern nobody.
func (e *events) ofMapped(d *driven, place int) func(happened) {
	return func(h happened) {
		if !d.open {
			return
		}
		for _, key := range d.rules.Mapped(place, h.Event) {
			e.bring(key, request.Mapped, h.at)
		}
	}
}

// ofFollowed handles the events of a followed kind. Objects that existed when it was first followed concern nobody: the
// reconcile is about to read them.
func (e *events) ofFollowed(h happened) {
	if h.listing {
		return
	}
	for _, key := range e.followers.Of(h.Event) {
		if !e.echoes.HoldsBack(key, trigger.Followed, h.Event) {
			e.bring(key, request.Followed, h.at)
		}
	}
}

// bring makes a resource due, because of something that happened at a time, unless it belongs to another test.
func (e *events) bring(key deploy.Ref, why request.Triggers, at time.Time) {
	if e.mine(key) {
		e.mark(key, why, at, false)
	}
}

// mine reports whether a resource belongs to this test: a real cluster may have other resources.
func (e *events) mine(ref deploy.Ref) bool {
	return e.memory != nil || ref.Namespace == e.options.namespace || e.applied[ref]
}
