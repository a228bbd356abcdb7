package reconciletest

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/trigger"
)

// Interleave sets the order of what a reconcile does concurrently, such as the components of a session. choose is
// called whenever two or more requests or reads of the operator wait to go on, and returns the index of the one that
// does: so a reconcile runs in the same order each time. They are sorted by object, verb and component; reads through
// a deploy.View are among them. A reconcile that still waits a minute after its context has ended fails the test. The
// test has to run in a bubble of testing/synctest.
func Interleave(choose func(waiting []Call) int) Option {
	return func(o *options) { o.choose = choose }
}

// gate lets the requests and reads of a reconcile pass one after the other, if the test interleaves them.
type gate struct {
	choose func(waiting []Call) int

	mu sync.Mutex
	// open: everything may pass.
	open bool
	// waiting are the requests and reads that wait, and arrived signals another one.
	waiting []*waiter
	arrived chan struct{}
}

type waiter struct {
	call Call
	// place is where it stands among those that wait.
	place string
	// last: it goes on only when no other one waits.
	last bool
	pass chan struct{}
}

func newGate(choose func(waiting []Call) int) *gate {
	return &gate{choose: choose, open: true, arrived: make(chan struct{}, 1)}
}

// pass waits until a request or read may pass. Those of the same verb and object are ordered by detail.
func (g *gate) pass(ctx context.Context, call Call, detail string) {
	g.mu.Lock()
	if g.open {
		g.mu.Unlock()
		return
	}
	g.mu.Unlock()
	component, _ := ctx.Value(componentKey{}).(string) // two components may read the same object
	g.wait(&waiter{call: call, place: strings.Join([]string{call.Ref.String(), string(call.Verb), call.Subresource, component, detail}, " ")})
}

// last waits until nothing else waits to go on.
func (g *gate) last() { g.wait(&waiter{last: true}) }

func (g *gate) wait(w *waiter) {
	w.pass = make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	<-w.pass
}

// overdue is how long a reconcile may take whose requests pass one after the other: its context has ended before that.
const overdue = trigger.Timeout + time.Minute

// run runs f, whose requests and reads pass one after the other. It reports whether f ends.
func (g *gate) run(f func()) (ends bool) {
	if g.choose == nil {
		f()
		return true
	}
	late := time.NewTimer(overdue)
	defer late.Stop()
	g.shut()
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		f()
		returned = true
	}()
	for running := true; running; {
		synctest.Wait()
		if g.next() {
			continue
		}
		select {
		case <-done:
			running = false
		case <-g.arrived: // f waited for a time
		case <-late.C:
			g.opened()
			return false
		}
	}
	g.opened()
	if !returned {
		runtime.Goexit() // f ended the test
	}
	return true
}

// next lets one of those that wait pass. It reports whether there was any.
func (g *gate) next() bool {
	g.mu.Lock()
	slices.SortStableFunc(g.waiting, func(a, b *waiter) int { return strings.Compare(a.place, b.place) })
	waiting := slices.DeleteFunc(slices.Clone(g.waiting), func(w *waiter) bool { return w.last })
	if len(waiting) == 0 {
		waiting = slices.Clone(g.waiting[:min(1, len(g.waiting))])
	}
	g.mu.Unlock()
	if len(waiting) == 0 {
		return false
	}
	i := 0
	if len(waiting) > 1 {
		calls := make([]Call, len(waiting))
		for n, w := range waiting {
			calls[n] = w.call
		}
		i = min(max(0, g.choose(calls)), len(waiting)-1)
	}
	g.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool { return w == waiting[i] })
	g.mu.Unlock()
	close(waiting[i].pass)
	return true
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
}

// opened lets everything pass.
func (g *gate) opened() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
	for _, w := range g.waiting {
		close(w.pass)
	}
	g.waiting = nil
}

// componentKey is the key of the name of the component in a context.
type componentKey struct{}

// ofComponent runs a step of a component with the component in its context.
func ofComponent(ctx context.Context, c *reconcile.Component, _ reconcile.Step, do func(ctx context.Context) error) error {
	return do(context.WithValue(ctx, componentKey{}, c.Name()))
}
