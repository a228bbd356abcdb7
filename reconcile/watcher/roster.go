package watcher

import (
	"slices"
	"sync"
)

// roster has the watchers of a kind, in the order of their calls: reconcilers come after the others. It is safe for
// concurrent use.
type roster struct {
	mu      sync.Mutex
	members []*member
	// running are the reconcilers whose engines run.
	running []*dispatcher
	// last is the number of the watcher that was added last.
	last uint64
}

// list returns the watchers. The result is never changed.
func (r *roster) list() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.members
}

func (r *roster) add(m *member) {
	r.last++
	m.number = r.last
	at := len(r.members)
	if !m.isReconciler {
		if first := slices.IndexFunc(r.members, func(m *member) bool { return m.isReconciler }); first >= 0 {
			at = first
		}
	}
	r.members = slices.Insert(slices.Clone(r.members), at, m)
}

// join adds a watcher while engines run.
func (r *roster) join(m *member) error {
	r.mu.Lock()
	if err := m.collides(r.members); err != nil {
		r.mu.Unlock()
		return err
	}
	r.add(m)
	running := slices.Clone(r.running)
	r.mu.Unlock()
	for _, one := range running {
		one.welcome()
	}
	return nil
}

func (r *roster) remove(m *member) {
	m.removed.Store(true)
	r.mu.Lock()
	r.members = slices.DeleteFunc(slices.Clone(r.members), func(other *member) bool { return other == m })
	running := slices.Clone(r.running)
	r.mu.Unlock()
	for _, one := range running {
		one.dismiss(m)
	}
}

// run notes that the engine of a reconciler runs, and returns a function for its end.
func (r *roster) run(one *dispatcher) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = append(r.running, one)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running = slices.DeleteFunc(r.running, func(other *dispatcher) bool { return other == one })
	}
}
