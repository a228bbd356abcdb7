package trigger

import (
	"sync"

	"github.com/operkit/operkit/deploy"
)

// Followers records which keys follow objects that they don't own. A key follows an object as long as its reconciles
// call Add for it. The zero value is empty. It is safe for concurrent use.
type Followers struct {
	mu   sync.Mutex
	keys map[deploy.Ref]map[deploy.Ref]struct{}
	// refs are the objects that each key follows; true: the current reconcile has called Add for it.
	refs map[deploy.Ref]map[deploy.Ref]bool
}

// Add records that the present reconcile of key follows ref.
func (f *Followers) Add(key deploy.Ref, ref deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys, f.refs = map[deploy.Ref]map[deploy.Ref]struct{}{}, map[deploy.Ref]map[deploy.Ref]bool{}
	}
	if f.keys[ref] == nil {
		f.keys[ref] = map[deploy.Ref]struct{}{}
	}
	if f.refs[key] == nil {
		f.refs[key] = map[deploy.Ref]bool{}
	}
	f.keys[ref][key] = struct{}{}
	f.refs[key][ref] = true
}

// Begin begins a reconcile of key, which hasn't called Add yet.
func (f *Followers) Begin(key deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ref := range f.refs[key] {
		f.refs[key][ref] = false
	}
}

// End ends a reconcile without an error: key no longer follows objects for which the reconcile didn't call Add.
func (f *Followers) End(key deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ref, wanted := range f.refs[key] {
		if wanted {
			continue
		}
		delete(f.refs[key], ref)
		if delete(f.keys[ref], key); len(f.keys[ref]) == 0 {
			delete(f.keys, ref)
		}
	}
	if len(f.refs[key]) == 0 {
		delete(f.refs, key)
	}
}

// Drop forgets what key follows.
func (f *Followers) Drop(key deploy.Ref) {
	f.Begin(key)
	f.End(key)
}

// Of returns the keys that follow the object of an event. An update without a change and an object that left the view
// concern no key.
func (f *Followers) Of(event deploy.Event) (keys []deploy.Ref) {
	if !concernsOthers(event) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.keys[deploy.RefOf(event.New)] {
		keys = append(keys, key)
	}
	return keys
}

// Len returns how many keys follow something.
func (f *Followers) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.refs)
}
