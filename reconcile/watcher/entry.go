package watcher

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
	"k8s.io/apimachinery/pkg/types"
)

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
