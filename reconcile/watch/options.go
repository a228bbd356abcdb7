package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	// wanted are the filters as they were given, filters those that are in use.
	wanted  []*kindFilter
	filters map[kindPair]*kindFilter
}

// Workers sets how many objects are reconciled at once; default 8.
func Workers(n int) Option { return func(o *options) { o.workers = n } }

// Timeout bounds one reconcile: its context is cancelled then; default 2 minutes.
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
// doubles with each failure in a row, less up to a tenth at random. Default 250 milliseconds
// and 30 seconds.
func Backoff(first, longest time.Duration) Option {
	return func(o *options) { o.retry, o.limit = first, longest }
}

// Logger receives what happens to objects. Default: slog.Default.
func Logger(logger *slog.Logger) Option { return func(o *options) { o.logger = logger } }

// When sets which events of the objects of a controlled kind bring them to reconcile, in place of what does by itself,
// which is filter.Standard. Those that exist at the start are events too, and so is the beginning of a deletion: what is
// refused isn't reconciled for it, see package filter. Retries, times that a result asks for, children and what is
// followed bring an object to reconcile all the same. A kind, whatever its version, has one filter. An event at which it
// panics counts, and the panic is logged once (spec: watch 21, 28-31).
func When(kind schema.GroupVersionKind, predicate filter.Predicate) Option {
	return func(o *options) {
		o.wanted = append(o.wanted, &kindFilter{kinds: kindPair{owner: kind.GroupKind()}, predicate: predicate})
	}
}

// WhenOwned is When for the events of children of kind child, which bring their owners of kind owner to reconcile. By
// itself each does that shows another version than the last; a filter lets pass some of these (spec: watch 25, 26).
func WhenOwned(owner, child schema.GroupVersionKind, predicate filter.Predicate) Option {
	kinds := kindPair{owner.GroupKind(), child.GroupKind(), true}
	return func(o *options) { o.wanted = append(o.wanted, &kindFilter{kinds: kinds, predicate: predicate}) }
}

// kindPair is a controlled kind, or with owned one of the kinds that it owns.
type kindPair struct {
	owner, child schema.GroupKind
	owned        bool
}

func (k kindPair) String() string {
	if k.owned {
		return k.child.String() + " of " + k.owner.String()
	}
	return k.owner.String()
}

// kindFilter is what was set for the events of a kind.
type kindFilter struct {
	kinds     kindPair
	predicate filter.Predicate
	panicked  sync.Once
}

// counts tells what was set to say of an event, and whether anything was. A filter that panics is told of once.
func (o *options) counts(kinds kindPair, event deploy.Event) (counts, set bool) {
	found, ok := o.filters[kinds]
	if !ok {
		return false, false
	}
	defer func() {
		if value := recover(); value != nil {
			counts, set = true, true
			found.panicked.Do(func() {
				o.logger.Error("a filter panics: what it panics at counts", "kind", kinds.String(), "value", value)
			})
		}
	}()
	return found.predicate(event), true
}

// useFilters checks the filters that were given.
func (o *options) useFilters() error {
	o.filters = map[kindPair]*kindFilter{}
	for _, given := range o.wanted {
		kinds := given.kinds
		switch {
		case kinds.owner.Kind == "" || kinds.owned && kinds.child.Kind == "":
			return fmt.Errorf("filter of %q: needs a kind", kinds)
		case given.predicate == nil:
			return fmt.Errorf("filter of %s: is nil", kinds)
		case o.filters[kinds] != nil:
			return fmt.Errorf("filter of %s: is set twice: join them by filter.And or filter.Or", kinds)
		}
		o.filters[kinds] = given
	}
	return nil
}

func newOptions(opts []Option) (options, error) {
	o := options{
		workers: 8, timeout: trigger.Timeout, grace: 20 * time.Second, logger: slog.Default(),
		cancelOn: func(context.Context) <-chan struct{} { return nil },
		retry:    trigger.FirstRetry, limit: trigger.LongestRetry,
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
	case o.logger == nil:
		return o, errors.New("logger: is nil")
	}
	return o, o.useFilters()
}
