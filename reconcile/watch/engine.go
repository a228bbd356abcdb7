package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/queue"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/leader"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Engine drives reconcilers by the events of a View. Its methods are safe for concurrent use.
type Engine struct {
	view      deploy.View
	options   options
	owners    *trigger.Owners
	children  *children
	followers trigger.Followers
	queue     *queue.Queue
	inbox     *inbox
	outage    outage
	echoes    trigger.Echoes

	// events counts the events that came, and reconciles counts the reconciles that have ended.
	events, reconciles atomic.Uint64
	kinds              kinds
	slots              []*slot

	// lacking is held while missing rights are found out. lacked are the rules that were logged last.
	lacking sync.Mutex
	lacked  string

	mu         sync.RWMutex
	controlled map[schema.GroupKind]*controlled

	// changing is held while kinds come and go, and while the engine starts and ends.
	changing sync.Mutex
	phase    phase
	// run is the context of Run, and work the context of the reconciles, which ends later. watchers are the goroutines
	// that watch the controlled kinds.
	run, work context.Context
	watchers  sync.WaitGroup
}

// phase is how far an engine is.
type phase int

const (
	unstarted phase = iota
	running
	ending
)

var (
	errNotRunning = errors.New("the engine doesn't run yet")
	// errUnread is the reason why a kind isn't watched while its objects are listed.
	errUnread = errors.New("its objects are still being read")
	// errStopped is the cause of the end of the engine.
	errStopped = errors.New("the engine has stopped")
	// errLost is the cause when reconciles are cancelled without the grace time.
	errLost = fmt.Errorf("the leadership was lost: %w", context.Canceled)
)

// New returns an engine over view. Nothing is started or watched before Run.
func New(view deploy.View, opts ...Option) (*Engine, error) {
	if view == nil {
		return nil, errors.New("nil view")
	}
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		view: view, options: o,
		owners:     trigger.NewOwners(),
		children:   newChildren(),
		queue:      queue.New(),
		inbox:      newInbox(),
		controlled: map[schema.GroupKind]*controlled{},
	}
	for range o.workers {
		e.slots = append(e.slots, &slot{logger: o.logger})
	}
	return e, nil
}

// Run watches and reconciles until ctx ends. Then nothing new is started, not even for objects that waited for their
// turn, running reconciles get the grace time, and Run returns nil. When the leadership that ctx belongs to is lost
// (leader.TermOf), before or after the end of ctx, running reconciles are cancelled immediately. An engine runs only
// once.
func (e *Engine) Run(ctx context.Context) error {
	// Running reconciles go on when ctx ends, and so do the subscriptions that they may wait for.
	work, cancelWork := context.WithCancelCause(context.WithoutCancel(ctx))
	var background, workers sync.WaitGroup
	defer background.Wait()
	defer cancelWork(errStopped)
	if err := e.begin(ctx, work); err != nil {
		return err
	}
	background.Go(func() { e.inbox.run(work) })
	if term, _ := leader.TermOf(ctx); term.Lost != nil {
		background.Go(func() {
			select {
			case <-term.Lost:
				cancelWork(errLost)
			case <-work.Done():
			}
		})
	}
	for _, slot := range e.slots {
		workers.Go(func() { e.reconcileAll(ctx, work, slot) })
	}
	<-ctx.Done()
	e.end()
	overdue := time.AfterFunc(e.options.grace, func() {
		cancelWork(fmt.Errorf("the grace time of %s is over: %w", e.options.grace, context.Canceled))
	})
	defer overdue.Stop()
	e.watchers.Wait()
	workers.Wait()
	return nil
}

// begin starts to watch the controlled kinds.
func (e *Engine) begin(run, work context.Context) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.phase != unstarted {
		return errors.New("engine: it runs already, or has run: make a new one")
	}
	e.phase, e.run, e.work = running, run, work
	e.children.open(work)
	inOrder := slices.SortedFunc(slices.Values(e.all()), func(a, b *controlled) int {
		return strings.Compare(a.kind.String(), b.kind.String())
	})
	for _, c := range inOrder {
		e.prepare(c)
		e.watchers.Go(c.watch)
	}
	return nil
}

// end starts nothing new from now on.
func (e *Engine) end() {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.phase = ending
	e.queue.Close()
}
