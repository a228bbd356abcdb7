package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/queue"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reconciler brings one object to its wanted state. It is called for several objects at
// once, never twice at once for the same one. An error is tried again with backoff, see
// package request for those that say otherwise; a panic counts as one. The object may be
// gone. A Reconciler that doesn't return when its context ends holds up the end of the engine.
type Reconciler interface {
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// Engine drives reconcilers by the events of a View. Its methods are safe for concurrent use.
type Engine struct {
	view      deploy.View
	options   options
	backoff   *backoff
	owners    *trigger.Owners
	children  *children
	followers trigger.Followers
	queue     *queue.Queue
	// late is why a reconcile ends that took too long.
	late error

	mu          sync.Mutex
	reconcilers map[schema.GroupVersionKind]Reconciler
	running     bool
}

var (
	errNotRunning = errors.New("the engine doesn't run yet")
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
	return &Engine{
		view: view, options: o,
		backoff:     newBackoff(o.retry, o.limit),
		owners:      trigger.NewOwners(),
		children:    newChildren(),
		queue:       queue.New(),
		late:        fmt.Errorf("the reconcile took longer than %s: %w", o.timeout, context.DeadlineExceeded),
		reconcilers: map[schema.GroupVersionKind]Reconciler{},
	}, nil
}

// Control has reconciler called for the objects of kind. A kind has one reconciler, whatever
// its versions, given before Run (spec: watch 1, mistake 18).
func (e *Engine) Control(kind schema.GroupVersionKind, reconciler Reconciler) error {
	if kind.Kind == "" || kind.Version == "" {
		return fmt.Errorf("kind %q: needs a version and a kind", kind)
	}
	if reconciler == nil {
		return fmt.Errorf("%s: its reconciler is nil", kind.Kind)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		return fmt.Errorf("%s: the engine runs already: add its reconciler before Run", kind.Kind)
	}
	for known := range e.reconcilers {
		if known.GroupKind() == kind.GroupKind() {
			return fmt.Errorf("%s: has a reconciler already", kind)
		}
	}
	e.reconcilers[kind] = reconciler
	return nil
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
	defer cancelWork(errStopped)
	e.children.open(work)
	var watchers, workers sync.WaitGroup
	for kind := range e.reconcilers {
		watchers.Go(func() { e.watchKind(ctx, kind) })
	}
	for range e.options.workers {
		workers.Go(func() { e.work(ctx, work) })
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
