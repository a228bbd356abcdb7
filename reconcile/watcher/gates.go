package watcher

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
)

// gates are the gates of the watchers that have a limit. The zero value is empty. It is safe for concurrent use.
type gates struct {
	mu  sync.Mutex
	all map[*member]*gate
}

// of returns the gate of a watcher, nil if it has no limit.
func (g *gates) of(m *member) *gate {
	if m.limit == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all[m] == nil {
		if g.all == nil {
			g.all = map[*member]*gate{}
		}
		g.all[m] = newGate(m.limit)
	}
	return g.all[m]
}

// reset empties the lines: objects that have waited while an earlier engine ran may be gone.
func (g *gates) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.all {
		one.reset()
	}
}

// remove removes the gate of a watcher.
func (g *gates) remove(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, m)
}

// list returns the gates, in no order.
func (g *gates) list() []*gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.all))
}

// invite brings the objects that a gate has invited. An object may not come: another replica may hold its lock. Then
// its place goes to the next one.
func (d *dispatcher) invite(g *gate, invited []deploy.Ref) {
	for _, ref := range invited {
		time.AfterFunc(patience, func() { d.invite(g, g.lapse(ref)) })
	}
	d.bring(invited)
}

// Forget implements watch.Forgetter: the object is gone, has left the view, or another replica holds its lock. What is
// left to do for it keeps its place in the lines, but no place is kept for it, since there may be no pass.
func (d *dispatcher) Forget(key deploy.Ref) {
	leaves := (*gate).quit
	if d.objects.knows(key) {
		leaves = (*gate).decline
	}
	for _, g := range d.gates.list() {
		d.invite(g, leaves(g, key))
	}
	d.Lifecycle.Forget(key)
}
