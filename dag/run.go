package dag

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Run visits each node of g once, except for disabled nodes, as soon as all nodes that it waits for are verified. It
// returns when no visit is in flight and no further node can start.
//
// visit gets the name and data of a node, and ctx. With [NodeTimeout] it gets a context derived from ctx. Run calls
// visit from several goroutines unless [Concurrency] is 0. The error that visit returns decides the outcome of the
// node: see the package documentation and [Unverified]. A nil visit does nothing and returns nil.
//
// The run works on a snapshot: visit may change or run the graph, and runs of one graph may overlap.
//
// The errors of nodes are in the state. Run itself returns an error in these cases:
//   - Options are invalid, or the graph is damaged. The state is empty.
//   - ctx ended before all work was done. Run starts nothing more, and returns ctx.Err() and the state so far when
//     everything in flight has returned. With [Abandon] it may return earlier, with an [*AbandonedError].
//   - The observer failed. The error is an [*ObserverError], joined to the error of ctx if there is one. The state is
//     complete.
//
// A panic in visit or a predicate becomes the error of its node. So does a call of runtime.Goexit, except that with
// Concurrency(0) it ends the goroutine that called Run.
func Run[T any](ctx context.Context, g *Graph[T], visit func(ctx context.Context, name string, data T) error, options ...Option) (State, error) {
	config, err := newConfig(options)
	if err != nil {
		return State{}, fmt.Errorf("run: %w", err)
	}
	if ctx == nil {
		return State{}, fmt.Errorf("run: nil context: %w", ErrInvalidOption)
	}
	plan, data := g.snapshot()
	if plan.err != nil {
		return State{}, fmt.Errorf("run: %w", plan.err)
	}
	if config.reverse {
		plan = plan.reversed()
	}
	s := newScheduler(ctx, plan, config, func(ctx context.Context, id int32) error {
		if visit == nil {
			return nil
		}
		return visit(ctx, plan.names[id], data[id])
	})
	observer := s.run()
	result := s.result()
	ended := result.ended
	if len(s.abandoned) > 0 {
		ended = &AbandonedError{Nodes: s.abandoned, Err: ended}
	}
	if observer != nil {
		ended = errors.Join(ended, fmt.Errorf("run: %w", observer))
	}
	return State{result}, ended
}

// Call is a visit for graphs whose data are the functions to run. A nil function does nothing.
func Call(ctx context.Context, _ string, f func(context.Context) error) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}

// Option is an option of Run. If an option is given twice, the last one wins. A nil option is ignored.
type Option func(*config)

const (
	// DefaultPollInterval is the period at which predicates that returned false are called again.
	DefaultPollInterval = 50 * time.Millisecond
	// maxDefaultConcurrency bounds DefaultConcurrency.
	maxDefaultConcurrency = 32
)

type config struct {
	concurrency  int
	pollInterval time.Duration
	predicates   bool
	failFast     bool
	reverse      bool
	nodeTimeout  limit
	abandon      limit
	observer     func(Event)
}

// DefaultConcurrency returns how many nodes a run works on at the same time by default: GOMAXPROCS + 4, at most 32. It
// is meant for visits that wait more than they compute.
func DefaultConcurrency() int { return min(runtime.GOMAXPROCS(0)+4, maxDefaultConcurrency) }

// Concurrency bounds the number of nodes worked on at the same time, their predicates included.
//
// With 0, Run starts no goroutine: it visits nodes one after another on the goroutine of its caller. With 0 or 1 the
// order is deterministic: Run visits all nodes that are ready by ascending name, then all nodes that these visits made
// ready, and so on. A negative number is an [ErrInvalidOption].
func Concurrency(n int) Option { return func(c *config) { c.concurrency = n } }

// PollInterval is the period at which a predicate that returned false is called again while a visit is in flight.
// Without the option it is [DefaultPollInterval]. 0 or less is an [ErrInvalidOption].
func PollInterval(d time.Duration) Option { return func(c *config) { c.pollInterval = d } }

// WithoutPredicates starts nodes without calling predicates. Nodes still wait for their dependencies.
func WithoutPredicates() Option { return func(c *config) { c.predicates = false } }

// FailFast starts no more nodes after a node has failed, or after a predicate has returned an error that makes the run
// fail ([State.HasFailed] says which errors do). Visits in flight aren't cancelled. Without FailFast, a failure holds
// back only the nodes that wait for the failed node.
func FailFast() Option { return func(c *config) { c.failFast = true } }

// Reverse visits dependents before their dependencies, for teardown: Run visits a node when all nodes that wait for it
// are verified. If a node fails or is disabled, its dependencies aren't visited, because the node may still use them.
// Predicates aren't called.
func Reverse() Option { return func(c *config) { c.reverse = true } }

func newConfig(options []Option) (config, error) {
	c := config{concurrency: DefaultConcurrency(), pollInterval: DefaultPollInterval, predicates: true}
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	var errs []error
	if c.concurrency < 0 {
		errs = append(errs, fmt.Errorf("concurrency %d: %w: want 0 (no goroutines) or more", c.concurrency, ErrInvalidOption))
	}
	if c.pollInterval <= 0 {
		errs = append(errs, fmt.Errorf("poll interval %s: %w: want more than 0", c.pollInterval, ErrInvalidOption))
	}
	if c.nodeTimeout.set && c.nodeTimeout.d <= 0 {
		errs = append(errs, fmt.Errorf("node timeout %s: %w: want more than 0", c.nodeTimeout.d, ErrInvalidOption))
	}
	if c.abandon.set && c.abandon.d < 0 {
		errs = append(errs, fmt.Errorf("abandon after %s: %w: want 0 or more", c.abandon.d, ErrInvalidOption))
	}
	if c.abandon.set && c.concurrency == 0 {
		errs = append(errs, fmt.Errorf("abandon after %s: %w: can't be combined with concurrency 0, which runs visits on the caller's goroutine", c.abandon.d, ErrInvalidOption))
	}
	return c, errors.Join(errs...)
}
