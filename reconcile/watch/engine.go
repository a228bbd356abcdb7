package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/queue"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Engine drives reconcilers by the events of a View. Its methods are safe for concurrent use.
type Engine struct {
	view      deploy.View
	options   options
	backoff   *backoff
	owners    *trigger.Owners
	children  *children
	followers trigger.Followers
	queue     *queue.Queue
	inbox     *inbox
	outage    outage
	echoes    echoes
	// late is why a reconcile ends that took too long.
	late error

	// events and reconciles count what came and what has ended.
	events, reconciles atomic.Uint64
	kinds              kinds
	slots              []*slot

	mu         sync.Mutex
	controlled map[schema.GroupVersionKind]*controlled
	running    bool
}

var (
	errNotRunning = errors.New("the engine doesn't run yet")
	// errUnread is why a kind isn't watched that was just begun with.
	errUnread = errors.New("its objects are still being read")
	// errStopped ends what the engine had under way.
	errStopped = errors.New("the engine has stopped")
	// errSignal ends it at once, see CancelOn.
	errSignal = fmt.Errorf("what the engine works by was lost: %w", context.Canceled)
)

// New returns an engine over view. Nothing is started or watched before Run.
func New(view deploy.View, opts ...Option) (*Engine, error) {
	if view == nil {
		return nil, errors.New("view: is nil")
	}
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		view: view, options: o,
		backoff:    newBackoff(o.retry, o.limit),
		owners:     trigger.NewOwners(),
		children:   newChildren(),
		queue:      queue.New(),
		inbox:      newInbox(),
		late:       fmt.Errorf("the reconcile took longer than %s: %w", o.timeout, context.DeadlineExceeded),
		controlled: map[schema.GroupVersionKind]*controlled{},
	}
	for range o.workers {
		e.slots = append(e.slots, &slot{patience: max(o.timeout, o.timeout+o.timeout/10), logger: o.logger})
	}
	return e, nil
}

// Run watches and reconciles until ctx ends. Then nothing new is started, not even what was
// waiting for its turn, running reconciles get the grace time, and Run returns nil. When what CancelOn was given
// closes, running reconciles are cancelled and none is started any more. An engine runs once.
func (e *Engine) Run(ctx context.Context) error {
	e.mu.Lock()
	if e.running {
		e.mu.Unlock()
		return errors.New("engine: runs already, or has run")
	}
	e.running = true
	e.mu.Unlock()

	// What runs when ctx ends goes on, and so do the subscriptions that it may wait for.
	work, cancelWork := context.WithCancelCause(context.WithoutCancel(ctx))
	var inbox, watchers, workers sync.WaitGroup
	defer inbox.Wait()
	defer cancelWork(errStopped)
	inbox.Go(func() { e.inbox.run(work) })
	e.children.open(work)
	kinds := slices.SortedFunc(maps.Keys(e.controlled), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
	for _, kind := range kinds {
		watchers.Go(func() { e.watchKind(ctx, e.controlled[kind]) })
	}
	for _, slot := range e.slots {
		workers.Go(func() { e.work(ctx, work, slot) })
	}
	defer e.cancelOnSignal(ctx, cancelWork)()
	<-ctx.Done()
	e.queue.Close()
	overdue := time.AfterFunc(e.options.grace, func() {
		cancelWork(fmt.Errorf("the grace time of %s is over: %w", e.options.grace, context.Canceled))
	})
	defer overdue.Stop()
	watchers.Wait()
	workers.Wait()
	return nil
}

// cancelOnSignal cancels work by what CancelOn was given, until stop is called.
func (e *Engine) cancelOnSignal(run context.Context, cancel context.CancelCauseFunc) (stop func()) {
	signal := e.options.cancelOn(run)
	if signal == nil {
		return func() {}
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signal:
			cancel(errSignal)
		case <-stopped:
		}
	}()
	return func() {
		close(stopped)
		<-ended
	}
}
