package dag

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Option says how Run runs. Of two that say the same thing differently the later one counts.
type Option func(*config)

const (
	// DefaultPollInterval is the period at which false predicates are asked again.
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

// DefaultConcurrency is how many nodes a run works on at the same time unless told otherwise:
// GOMAXPROCS + 4, at most 32. It is meant for visits that wait more than they compute.
func DefaultConcurrency() int { return min(runtime.GOMAXPROCS(0)+4, maxDefaultConcurrency) }

// Concurrency bounds the number of nodes worked on at the same time, their predicates included.
//
// 0 starts no goroutine: each node is visited on the goroutine that called Run, to its end,
// before the next is looked at. With 0 and 1 the order is determined: all nodes that are ready
// are visited by ascending name, then all those that became ready by that, and so on. A negative
// number is an [ErrInvalidOption].
func Concurrency(n int) Option { return func(c *config) { c.concurrency = n } }

// PollInterval is the period at which a predicate that answered false is asked again while a
// visit is in flight; [DefaultPollInterval] unless told otherwise. Zero and less is an
// [ErrInvalidOption].
func PollInterval(d time.Duration) Option { return func(c *config) { c.pollInterval = d } }

// WithoutPredicates starts nodes without asking predicates. The order is kept (spec: dag 17).
func WithoutPredicates() Option { return func(c *config) { c.predicates = false } }

// FailFast starts nothing any more once a node has failed, or a predicate has returned an error
// that makes the run count as failed (see [State.HasFailed]). What is in flight ends as it would
// have. Without it, a failure holds back only what waits for the failed node.
func FailFast() Option { return func(c *config) { c.failFast = true } }

// Reverse runs against the dependencies, to take down what an ordinary run has built up: each
// node is visited once everything that waits for it is verified. A node that fails holds back
// what it depends on, since that is still in use; so does a disabled one. Predicates aren't
// asked.
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
		errs = append(errs, fmt.Errorf("abandon after %s: %w: can't be with concurrency 0, where the caller's goroutine visits", c.abandon.d, ErrInvalidOption))
	}
	return c, errors.Join(errs...)
}
