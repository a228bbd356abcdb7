package watcher

import (
	"sync"

	"github.com/operkit/operkit/deploy"
)

// gate limits for how many objects a watcher is called at a time. Objects that find it full stand in a line, without a
// worker: whoever leaves the gate invites the first one of the line, for which a place is kept. It is safe for
// concurrent use.
type gate struct {
	mu   sync.Mutex
	free int
	// line has the objects that wait, in their order. Those that have left it since aren't in waiting.
	line []deploy.Ref
	// waiting has the objects in the line, with the value true if they are invited.
	waiting map[deploy.Ref]bool
}

func newGate(places int) *gate { return &gate{free: places, waiting: map[deploy.Ref]bool{}} }

// enter takes a place. If there is none, the object stands in the line, and enter returns false.
func (g *gate) enter(ref deploy.Ref) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	isInvited, waits := g.waiting[ref]
	switch {
	case isInvited:
		delete(g.waiting, ref)
		return true
	case waits:
		return false
	case g.free > 0:
		g.free--
		return true
	}
	g.line, g.waiting[ref] = append(g.line, ref), false
	return false
}

// leave gives a place back, and returns the objects that are invited because of that.
func (g *gate) leave() (invited []deploy.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	return g.invite()
}

// quit takes an object out of the line that doesn't want to enter any more, and returns the objects that are invited
// because of that.
func (g *gate) quit(ref deploy.Ref) (invited []deploy.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting[ref] {
		g.free++
	}
	delete(g.waiting, ref)
	return g.invite()
}

// reset empties the line.
func (g *gate) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, isInvited := range g.waiting {
		if isInvited {
			g.free++
		}
	}
	g.line, g.waiting = nil, map[deploy.Ref]bool{}
}

// invite keeps the free places for the first objects of the line, and returns these.
func (g *gate) invite() (invited []deploy.Ref) {
	for g.free > 0 && len(g.line) > 0 {
		ref := g.line[0]
		g.line = g.line[1:]
		if isInvited, waits := g.waiting[ref]; waits && !isInvited {
			g.waiting[ref] = true
			g.free--
			invited = append(invited, ref)
		}
	}
	if len(g.line) == 0 {
		g.line = nil
	}
	return invited
}

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
