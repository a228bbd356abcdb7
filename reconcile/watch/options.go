package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Option sets what is rarely set.
type Option func(*options)

type options struct {
	workers int
	timeout time.Duration
	grace   time.Duration
	// cancelOn gives what ends the grace time.
	cancelOn func(context.Context) <-chan struct{}
	logger   *slog.Logger
	retry    time.Duration
	limit    time.Duration
	domain   string
	period   time.Duration
	around   []func(Reconciler) Reconciler
}

// Workers sets how many objects are reconciled at once. Default is four for each processor that the process may use, at
// least 4 and at most 32; a limit of processors that a container has is kept to (spec: watch 10, mistake 24).
func Workers(n int) Option { return func(o *options) { o.workers = n } }

// Timeout bounds one reconcile: its context is cancelled then; default 2 minutes. One that hasn't returned a tenth of
// that later is stuck: that is logged, and stands in State.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Grace is how long running reconciles may go on after Run's context has ended, before
// theirs is cancelled; default 20 seconds, zero cancels them at once.
func Grace(d time.Duration) Option { return func(o *options) { o.grace = d } }

// CancelOn has running reconciles cancelled at once, without any grace time, when the channel closes that signal
// returns for the context of Run; nil never does. It is for a leadership that may be lost, also after that context has
// ended: the channel of leader.TermOf.
func CancelOn(signal func(run context.Context) <-chan struct{}) Option {
	return func(o *options) { o.cancelOn = signal }
}

// Backoff sets the time before the first retry of a failed object and the longest one; it
// doubles with each failure in a row, less up to a tenth at random, and begins anew after one that
// got further (request.Advanced). Default 250 milliseconds and 30 seconds.
func Backoff(first, longest time.Duration) Option {
	return func(o *options) { o.retry, o.limit = first, longest }
}

// Period has each object that exists reconciled again after this time at the latest, less up to a tenth at random, also
// when nothing happened to it: a time that its reconcile asks for counts if it is sooner. A permanent error comes again
// with the period too. Default 0: events bring what matters (spec: watch 13).
func Period(d time.Duration) Option { return func(o *options) { o.period = d } }

// Around has each reconcile done by what around makes of the Reconciler that does it, for metrics and traces: it sees the request, the
// context, the result and the error, and a panic passes through it. What a Reconciler may be beside, such as an Observer, isn't asked of it.
// Of several the first is the outermost.
func Around(around func(Reconciler) Reconciler) Option {
	return func(o *options) { o.around = append(o.around, around) }
}

// Logger receives what happens to objects. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Domain is that of the annotation <domain>/reconcile-at, whose change forces a reconcile; default deploy.Domain.
func Domain(domain string) Option { return func(o *options) { o.domain = domain } }

// defaultWorkers are four for each processor that the process may use, which is what a limit of its container leaves it:
// reconciles mostly wait for the network (spec: watch 10, mistake 24).
func defaultWorkers(processors int) int { return min(max(4*processors, 4), 32) }

func newOptions(opts []Option) (options, error) {
	o := options{
		workers: defaultWorkers(runtime.GOMAXPROCS(0)), timeout: trigger.Timeout, grace: 20 * time.Second, logger: slog.Default(),
		cancelOn: func(context.Context) <-chan struct{} { return nil },
		retry:    trigger.FirstRetry, limit: trigger.LongestRetry, domain: deploy.Domain,
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
	case o.cancelOn == nil:
		return o, errors.New("cancel on: is nil")
	case o.retry <= 0 || o.limit < o.retry:
		return o, fmt.Errorf("backoff: %s to %s: both must be positive, the second not shorter", o.retry, o.limit)
	case o.period < 0:
		return o, fmt.Errorf("period: %s: it can't be negative", o.period)
	case o.logger == nil:
		return o, errors.New("logger: is nil")
	case slices.ContainsFunc(o.around, func(around func(Reconciler) Reconciler) bool { return around == nil }):
		return o, errors.New("around: is nil")
	}
	if wrong := validation.IsQualifiedName(o.domain + trigger.ForcedBy); len(wrong) > 0 {
		return o, fmt.Errorf("domain %q: makes no keys of annotations: %s", o.domain, strings.Join(wrong, "; "))
	}
	return o, nil
}
