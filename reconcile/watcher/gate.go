package watcher

import (
	"container/list"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
)

// patience is the time after which a place that is kept for an object goes to the next one in the line.
const patience = 10 * time.Second

// gate limits for how many objects a watcher is called at a time. Objects that find it full stand in a line, without a
// worker: whoever leaves the gate invites the first one of the line, for which a place is kept. It is safe for
// concurrent use.
type gate struct {
	mu   sync.Mutex
	free int
	// line has the objects that wait and aren't invited, in their order, and waiting has their places in it.
	line    *list.List
	waiting map[deploy.Ref]*list.Element
	// invited has the objects for which a place is kept, with the times of their invitations.
	invited map[deploy.Ref]time.Time
}

func newGate(places int) *gate {
	g := &gate{free: places}
	g.empty()
	return g
}

func (g *gate) empty() {
	g.line, g.waiting, g.invited = list.New(), map[deploy.Ref]*list.Element{}, map[deploy.Ref]time.Time{}
}

// enter takes a place. If there is none, the object stands in the line, and enter returns false.
func (g *gate) enter(ref deploy.Ref) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, isInvited := g.invited[ref]
	switch {
	case isInvited:
		delete(g.invited, ref)
		return true
	case g.waiting[ref] != nil:
		return false
	case g.free > 0:
		g.free--
		return true
	}
	g.waiting[ref] = g.line.PushBack(ref)
	return false
}

// leave gives a place back, and returns the objects that are invited because of that.
func (g *gate) leave() (invited []deploy.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	return g.invite()
}

// decline gives the place back that is kept for an object, and returns the objects that are invited because of that. An
// object that isn't invited stays in the line.
func (g *gate) decline(ref deploy.Ref) (invited []deploy.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.uninvite(ref)
	return g.invite()
}

// quit takes an object out of the line, and returns the objects that are invited because of that.
func (g *gate) quit(ref deploy.Ref) (invited []deploy.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.uninvite(ref)
	if place := g.waiting[ref]; place != nil {
		g.line.Remove(place)
		delete(g.waiting, ref)
	}
	return g.invite()
}

// lapse puts an object that hasn't come since it was invited at the end of the line, if patience is over. It returns
// the objects that are invited because of that.
func (g *gate) lapse(ref deploy.Ref) (invited []deploy.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, isInvited := g.invited[ref]; !isInvited || time.Since(at) < patience {
		return nil
	}
	g.uninvite(ref)
	g.waiting[ref] = g.line.PushBack(ref)
	return g.invite()
}

// reset empties the line.
func (g *gate) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free += len(g.invited)
	g.empty()
}

func (g *gate) uninvite(ref deploy.Ref) {
	if _, isInvited := g.invited[ref]; isInvited {
		delete(g.invited, ref)
		g.free++
	}
}

// invite keeps the free places for the first objects of the line, and returns these.
func (g *gate) invite() (invited []deploy.Ref) {
	for ; g.free > 0 && g.line.Len() > 0; g.free-- {
		ref := g.line.Remove(g.line.Front()).(deploy.Ref)
		delete(g.waiting, ref)
		g.invited[ref] = time.Now()
		invited = append(invited, ref)
	}
	return invited
}
