package watcher

import (
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
	"k8s.io/apimachinery/pkg/types"
)

// objects has what is left to do for each object. The zero value is empty. It is safe for concurrent use.
type objects struct {
	mu      sync.Mutex
	entries map[deploy.Ref]*entry
}

// entry is the object of one name. It is guarded by the lock of objects.
type entry struct {
	// uid is that of the present object, empty if there is none.
	uid types.UID
	// version is the resourceVersion of the last event, and events counts the events.
	version string
	events  uint64
	// works has what each watcher has still to do. A watcher that isn't in it has handled the last event, or its filter
	// has refused it.
	works map[*member]*work.Work
	// newest is the number of the newest watcher that the object was made known to.
	newest uint64
	// resync is when all watchers are called again, zero before the first pass and if they aren't.
	resync time.Time
}

// is reports whether an object is the present one, as far as the events tell. nil isn't.
func (e *entry) is(object *work.Object) bool {
	return object != nil && e.uid != "" && e.uid == object.GetUID()
}

// of returns the work of a watcher.
func (e *entry) of(m *member) *work.Work {
	w := e.works[m]
	if w == nil {
		w = work.Settled(e.version)
		e.set(m, w)
	}
	return w
}

func (e *entry) set(m *member, w *work.Work) {
	if e.works == nil {
		e.works = map[*member]*work.Work{}
	}
	e.works[m] = w
}

// tidy drops the work of a watcher with which it is done.
func (e *entry) tidy(m *member) {
	if w := e.works[m]; w != nil && (e.uid != "" && w.IsIdle() && w.Version() == e.version || e.uid == "" && w.IsEmpty()) {
		delete(e.works, m)
	}
	if len(e.works) == 0 {
		e.works = nil // an empty map keeps its memory
	}
}

// entry returns what is known of the object of a name.
func (o *objects) entry(ref deploy.Ref) *entry {
	e := o.entries[ref]
	if e == nil {
		if o.entries == nil {
			o.entries = map[deploy.Ref]*entry{}
		}
		e = &entry{}
		o.entries[ref] = e
	}
	return e
}

// observe notes an event, which the filters of watchers pass or not.
func (o *objects) observe(ref deploy.Ref, event deploy.Event, members []*member, passes []bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entry(ref)
	e.events++
	if event.Type == deploy.Left {
		e.uid = ""
		delete(o.entries, ref)
		return
	}
	e.meet(members)
	uid := event.New.GetUID()
	if event.Type == deploy.Deleted {
		e.deleted(event.New, members, passes)
		if e.works == nil {
			delete(o.entries, ref)
		}
		return
	}
	switch {
	case e.uid == "":
		e.created(uid, members, passes)
	case e.uid != uid: // the deletion was missed
		last := event.Old
		if last == nil {
			last = event.New
		}
		e.deleted(last, members, all(members))
		e.created(uid, members, passes)
	default:
		e.changed(event, members, passes)
	}
	e.version = event.New.GetResourceVersion()
	for _, m := range members {
		e.tidy(m)
	}
}

func (e *entry) created(uid types.UID, members []*member, passes []bool) {
	e.uid, e.resync = uid, time.Time{}
	for i, m := range members {
		w := e.works[m]
		if w == nil {
			w = &work.Work{}
			e.set(m, w)
		}
		w.Created(e.events, passes[i])
	}
}

// changed notes an update. One that repeats a state is a resync.
func (e *entry) changed(event deploy.Event, members []*member, passes []bool) {
	from, action := event.Old, work.Update
	if from == nil {
		from = event.New
	}
	version := event.New.GetResourceVersion()
	switch {
	case version == "":
	case event.Type == deploy.Modified && from.GetResourceVersion() == version:
		action = work.Resync
	case version == e.version:
		return // a pass came before the event
	}
	for i, m := range members {
		if passes[i] || e.works[m] != nil {
			e.of(m).Changed(e.events, from, event.New, action, passes[i])
		}
	}
}

func (e *entry) deleted(last *work.Object, members []*member, passes []bool) {
	if e.uid != "" || len(e.works) > 0 {
		for i, m := range members {
			if e.uid != "" || e.works[m] != nil {
				e.of(m).Deleted(last, passes[i])
			}
		}
	}
	e.uid, e.version = "", ""
	for m := range e.works {
		e.tidy(m)
	}
}

func all(members []*member) []bool {
	passes := make([]bool, len(members))
	for i := range passes {
		passes[i] = true
	}
	return passes
}

// enter returns what is left to do for the object of a name, at the begin of a pass, with the number of the last event.
func (o *objects) enter(ref deploy.Ref, members []*member) (e *entry, asOf uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e = o.entry(ref)
	for m := range e.works {
		if m.removed.Load() {
			delete(e.works, m)
		}
	}
	e.meet(members)
	return e, e.events
}

// meet notes the watchers that were added since the object was created: they have to be called for it.
func (e *entry) meet(members []*member) {
	newest := e.newest
	for _, m := range members {
		if m.number <= e.newest {
			continue
		}
		newest = max(newest, m.number)
		if e.uid != "" {
			w := &work.Work{}
			w.Created(e.events, true)
			e.set(m, w)
		}
	}
	e.newest = newest
}

// refs returns the names of all objects.
func (o *objects) refs() (refs []deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref, e := range o.entries {
		if e.uid != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}
