package watcher

import (
	"sync"

	"github.com/operkit/operkit/deploy"
)

// objects has what is left to do for each object. The zero value is empty. It is safe for concurrent use.
type objects struct {
	mu      sync.Mutex
	entries map[deploy.Ref]*entry
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

// knows reports whether there is an object of a name, or something is left to do for an earlier one.
func (o *objects) knows(ref deploy.Ref) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.entries[ref]
	return e != nil && (e.uid != "" || e.works != nil)
}

// isOver reports whether the deletion of an earlier object of a name is left to do.
func (o *objects) isOver(ref deploy.Ref) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.entries[ref]; e != nil {
		for _, w := range e.works {
			if w.IsOver() {
				return true
			}
		}
	}
	return false
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
