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
	// resync is when all watchers are called again, zero before the first pass and if they aren't. isForced: they are
	// called again by the next pass.
	resync   time.Time
	isForced bool
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

// tidy drops an entry with which everything is done.
func (o *objects) tidy(ref deploy.Ref, e *entry) {
	if e.uid == "" && e.works == nil && !e.isForced && o.entries[ref] == e {
		delete(o.entries, ref)
	}
}

// missed returns the event of a deletion that wasn't seen, if another event shows that it has happened.
func (o *objects) missed(ref deploy.Ref, event deploy.Event) (deletion deploy.Event, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entries[ref]
	if e == nil || e.uid == "" || event.Type == deploy.Left || event.Type == deploy.Deleted || e.uid == event.New.GetUID() {
		return deletion, false
	}
	last := event.Old
	if last == nil {
		last = event.New
	}
	return deploy.Event{Type: deploy.Deleted, Old: last, New: last}, true
}

// left forgets an object that isn't seen any more. It reports whether the deletion of an earlier object is left to do.
func (o *objects) left(ref deploy.Ref) (isLeft bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entries[ref]
	if e == nil {
		return false
	}
	e.uid, e.version, e.isForced = "", "", false
	e.events++
	for m, w := range e.works {
		w.Left()
		isLeft = isLeft || w.IsOver()
		e.tidy(m)
	}
	o.tidy(ref, e)
	return isLeft
}

// drop drops what a watcher has to do, and returns the objects for which that was something.
func (o *objects) drop(m *member) (refs []deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ref, e := range o.entries {
		if e.works[m] != nil {
			delete(e.works, m)
			e.tidy(m)
			o.tidy(ref, e)
			refs = append(refs, ref)
		}
	}
	return refs
}

// observe notes an event, which the filters of watchers pass or not.
func (o *objects) observe(ref deploy.Ref, event deploy.Event, members []*member, passes []bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entry(ref)
	e.events++
	e.meet(members)
	uid := event.New.GetUID()
	if event.Type == deploy.Deleted {
		e.deleted(event.New, members, passes)
		o.tidy(ref, e)
		return
	}
	if e.uid == "" {
		e.created(uid, members, passes)
	} else {
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

// enter returns what is left to do for the object of a name, at the begin of a pass, with the number of the last event.
func (o *objects) enter(ref deploy.Ref, members []*member, isForced bool) (e *entry, asOf uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e = o.entry(ref)
	e.isForced = e.isForced || isForced
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
