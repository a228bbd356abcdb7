package watch

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/reconcile/internal/trigger"
)

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	workers int
	timeout time.Duration
	grace   time.Duration
	logger  *slog.Logger
	retry   time.Duration
	limit   time.Duration
}

// Workers sets how many objects are reconciled at once; default 8.
func Workers(n int) Option { return func(o *options) { o.workers = n } }

// Timeout bounds one reconcile: its context is cancelled then; default 2 minutes.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Grace is how long running reconciles may go on after Run's context has ended, before
// theirs is cancelled; default 20 seconds, zero cancels them at once.
func Grace(d time.Duration) Option { return func(o *options) { o.grace = d } }

// Backoff sets the time before the first retry of a failed object and the longest one; it
// doubles with each failure in a row, less up to a tenth at random. Default 250 milliseconds
// and 30 seconds.
func Backoff(first, longest time.Duration) Option {
	return func(o *options) { o.retry, o.limit = first, longest }
}

// Logger receives what happens to objects. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

func newOptions(opts []Option) (options, error) {
	o := options{
		workers: 8, timeout: trigger.Timeout, grace: 20 * time.Second, logger: slog.Default(),
		retry: trigger.FirstRetry, limit: trigger.LongestRetry,
	}
	for _, option := range opts {
		option(&o)
	}
	switch {
	case o.workers < 1:
		return o, fmt.Errorf("workers: %d: at least 1 is needed", o.workers)
	case o.timeout <= 0:
		return o, fmt.Errorf("timeout: %s: it must be positive", o.timeout)
	case o.grace < 0:
		return o, fmt.Errorf("grace: %s: it can't be negative", o.grace)
	case o.retry <= 0 || o.limit < o.retry:
		return o, fmt.Errorf("backoff: %s to %s: both must be positive, the second not shorter", o.retry, o.limit)
	case o.logger == nil:
		return o, errors.New("logger: is nil")
	}
	return o, nil
}
