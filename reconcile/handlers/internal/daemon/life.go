package daemon

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/source"
)

const (
	// longest bounds the end of Run if its context has no grace time, and shortest is for one that has none to give.
	longest, shortest = 20 * time.Second, time.Second
	// afterLoss bounds the end of Run when the leadership is lost: another replica may lead soon. It is shorter than
	// the time for which an operator then waits.
	afterLoss = 5 * time.Second
)

// life is the time in which daemons may be started.
type life struct {
	ctx    context.Context
	target source.Target
}

// Run implements source.External: daemons are started until ctx ends or its leadership is lost (leader.TermOf). Then
// all are stopped at once, by Exiting, Released or Lost, and Run returns when all have returned or are abandoned. It
// waits for each at most its Grace, and at most the grace time of the engine (source.GraceOf), but at least a second;
// after a loss of the leadership at most five seconds, also if Run was waiting already.
func (k *Keeper[T]) Run(ctx context.Context, target source.Target) {
	term, _ := leader.TermOf(ctx)
	k.begin(&life{ctx: ctx, target: target})
	select {
	case <-ctx.Done():
	case <-term.Lost:
	}
	why := endOf(ctx, term)
	idle := k.end(why, limit(ctx, why))
	select {
	case <-idle:
	case <-term.Lost:
		k.hurry(time.Now().Add(afterLoss))
		<-idle
	}
}

// limit returns how long the end may take.
func limit(ctx context.Context, why Stop) time.Duration {
	grace, given := source.GraceOf(ctx)
	if !given {
		grace = longest
	}
	if why == Lost {
		grace = min(grace, afterLoss)
	}
	return max(grace, shortest)
}

// begin lets daemons be started, and brings the objects for which a pass has come too early.
func (k *Keeper[T]) begin(l *life) {
	k.mu.Lock()
	defer k.unlock()
	k.life = l
	k.brings = append(k.brings, slices.Collect(maps.Keys(k.early))...)
	clear(k.early)
}

// end stops all daemons, and returns a channel that is closed when all have returned or are abandoned.
func (k *Keeper[T]) end(why Stop, limit time.Duration) <-chan struct{} {
	k.mu.Lock()
	defer k.unlock()
	idle := make(chan struct{})
	k.life, k.idle = nil, idle
	for r := range k.runs {
		k.stop(r, why)
		k.bound(r, time.Now().Add(limit))
	}
	k.endWait()
	return idle
}

// endWait ends the end of Run if it needn't wait any more.
func (k *Keeper[T]) endWait() {
	if k.held == 0 && k.idle != nil {
		close(k.idle)
		k.idle = nil
	}
}

// hurry lets the grace of all daemons end at a time, unless it ends sooner.
func (k *Keeper[T]) hurry(until time.Time) {
	k.mu.Lock()
	defer k.unlock()
	for r := range k.runs {
		k.bound(r, until)
	}
}

// runs yields all daemons that have a goroutine.
func (k *Keeper[T]) runs(yield func(*run[T]) bool) {
	for _, o := range k.objects {
		for _, d := range o.daemons {
			if d.run != nil && !yield(d.run) {
				return
			}
		}
	}
}
