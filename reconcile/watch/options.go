package watch

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Option is an option of New, and of Control for one kind. The last one of a kind wins, except that several Around add
// up; nil is ignored.
type Option func(*options)

type options struct {
	workers              int
	timeout, grace       time.Duration
	retry, limit, period time.Duration
	logger               *slog.Logger
	domain               string
	filter               filter.Predicate
	around               []func(Reconciler) Reconciler
}

// Workers sets how many objects are reconciled concurrently. The default is four for each processor that the process
// may use, at least 4 and at most 32; a container's limit of processors counts.
func Workers(n int) Option { return func(o *options) { o.workers = n } }

// Timeout bounds one reconcile, whose context is cancelled then; default 2 minutes. A reconcile that hasn't returned
// after another tenth of that time is stuck, which is logged and shown by State.
func Timeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// Grace sets how long running reconciles may go on after the context of Run has ended, before their contexts are
// cancelled; default 20 seconds, zero cancels them immediately.
func Grace(d time.Duration) Option { return func(o *options) { o.grace = d } }

// Backoff sets the time before the first retry of a failed object and the longest time before a retry; default 250
// milliseconds and 30 seconds. The time doubles with each failure in a row, less up to a tenth at random, and begins
// anew after a failure that got further (Advanced of request.Error).
func Backoff(first, longest time.Duration) Option {
	return func(o *options) { o.retry, o.limit = first, longest }
}

// Period sets the time after which each existing object is reconciled again, even without an event and after a
// permanent error. Up to a tenth of the time is subtracted at random. If the reconcile of the object asks for a shorter
// time, that time counts. The default 0 means never.
func Period(d time.Duration) Option { return func(o *options) { o.period = d } }

// Filter sets which events of controlled objects count if the Sources of the Reconciler don't say so (source.Sources,
// When); default filter.Standard.
func Filter(predicate filter.Predicate) Option { return func(o *options) { o.filter = predicate } }

// Around wraps each Reconciler, for metrics and traces: the wrapper sees the context, the request, the result and the
// error, and panics pass through it. The wrapper needn't be an Observer, a Forgetter or a source.Provider: the engine
// asks the Reconciler itself. Of several wrappers the first is the outermost.
func Around(around func(Reconciler) Reconciler) Option {
	return func(o *options) { o.around = append(o.around, around) }
}

// Logger sets the logger; default slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// Domain sets the domain of the annotation <domain>/reconcile-at, whose change forces a reconcile; default
// deploy.Domain.
func Domain(domain string) Option { return func(o *options) { o.domain = domain } }

// defaultWorkers returns four workers for each processor, within limits: reconciles mostly wait for the network.
func defaultWorkers(processors int) int { return min(max(4*processors, 4), 32) }

func newOptions(opts []Option) (options, error) {
	o := options{
		workers: defaultWorkers(runtime.GOMAXPROCS(0)), timeout: trigger.Timeout, grace: 20 * time.Second, logger: slog.Default(),
		retry: trigger.FirstRetry, limit: trigger.LongestRetry, domain: deploy.Domain,
	}
	optional.Apply(&o, opts)
	return o, o.check()
}

// forKind returns o with the options of one kind.
func (o options) forKind(opts []Option) (options, error) {
	kind := o
	kind.around = slices.Clone(o.around)
	optional.Apply(&kind, opts)
	if kind.grace != o.grace || kind.logger != o.logger || kind.domain != o.domain {
		return o, errors.New("the options Grace, Logger and Domain are for the whole engine: pass them to New")
	}
	return kind, kind.check()
}

// patience is the time after which a reconcile is stuck.
func (o options) patience() time.Duration { return max(o.timeout, o.timeout+o.timeout/10) }

func (o options) check() error {
	switch {
	case o.workers < 1:
		return fmt.Errorf("workers: %d: at least 1 is needed", o.workers)
	case o.timeout <= 0:
		return fmt.Errorf("timeout: %s: it must be positive", o.timeout)
	case o.grace < 0:
		return fmt.Errorf("grace: %s: it can't be negative", o.grace)
	case o.retry <= 0 || o.limit < o.retry:
		return fmt.Errorf("backoff: %s to %s: both must be positive, the second not shorter", o.retry, o.limit)
	case o.period < 0:
		return fmt.Errorf("period: %s: it can't be negative", o.period)
	case o.logger == nil:
		return errors.New("nil logger")
	case slices.ContainsFunc(o.around, func(around func(Reconciler) Reconciler) bool { return around == nil }):
		return errors.New("around: nil function")
	}
	if wrong := validation.IsQualifiedName(o.domain + trigger.ForcedBy); len(wrong) > 0 {
		return fmt.Errorf("domain %q: not valid in keys of annotations: %s", o.domain, strings.Join(wrong, "; "))
	}
	return nil
}
