package handlers

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/handlers/internal/fieldpath"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/schedule"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/status"
)

// Option is an option of a handler. nil is ignored. Options that don't fit the handler are reported when the operator
// starts, all at once.
type Option func(*settings)

// settings are what the options of a handler set.
type settings struct {
	selection.Handler
	attempts struct {
		set bool
		max int
	}
	within, backoff struct {
		set bool
		d   time.Duration
	}
	policy struct {
		set   bool
		value ErrorPolicy
	}
	reports []status.Declared
	// timer is set for a handler of Timer; cron, and perhaps zone, for one of Cron.
	timer *schedule.Timer
	cron  *string
	zone  string
	// dropFailed is set for an index.
	dropFailed bool
	// grace and delay are for a handler of Daemon.
	grace, delay time.Duration
	formerly     []string
	// whenType is the type of the objects that a When gets, nil without one.
	whenType reflect.Type
	errs     []error
}

// handler returns the handler with the settings.
func (s *settings) handler(call func(ctx context.Context, a *engine.Attempt) error) *engine.Handler {
	return &engine.Handler{
		Handler: s.Handler, Limits: progress.Limits{Attempts: s.attempts.max, Within: s.within.d}, Backoff: s.backoff.d,
		Policy: s.policy.value, Reports: s.reports, Formerly: s.formerly, Rule: s.rule(), IsCron: s.cron != nil,
		Grace: s.grace, Delay: s.delay, Call: call,
	}
}

func (s *settings) fail(format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

// ErrorPolicy is what an error of a handler means, unless the error itself says so (request.Permanent,
// request.RetryAfter).
type ErrorPolicy = engine.ErrorPolicy

// The policies.
const (
	// Retry: the handler is called again after a time. This is the default.
	Retry = engine.Retry
	// Fail: the handler has failed for good, until the object changes.
	Fail = engine.Fail
	// Ignore: the error is logged, and the handler counts as succeeded.
	Ignore = engine.Ignore
)

// Errors sets what an error of the handler means.
func Errors(policy ErrorPolicy) Option {
	return func(s *settings) {
		if policy < Retry || policy > Ignore {
			s.fail("errors: unknown policy %d: use Retry, Fail or Ignore", policy)
		}
		s.policy.set, s.policy.value = true, policy
	}
}

// MaxAttempts sets how often the handler is called for one cause before it has failed for good. The default is without
// end. Attempts before a restart count; those that have only waited (request.Precondition) don't.
func MaxAttempts(n int) Option {
	return func(s *settings) {
		if n <= 0 {
			s.fail("max attempts %d: the handler would never be called: use at least 1", n)
		}
		s.attempts.set, s.attempts.max = true, n
	}
}

// Within sets the time from the first attempt until the handler has failed for good. The context of a running attempt
// ends then, and a success after that doesn't count. The default is without end.
func Within(d time.Duration) Option {
	return func(s *settings) {
		if d <= 0 {
			s.fail("within %s: the handler would never be called: use a positive time", d)
		}
		s.within.set, s.within.d = true, d
	}
}

// Backoff sets the time between two attempts. By default it is a second after the first attempt and doubles with each
// further one, up to a minute.
func Backoff(d time.Duration) Option {
	return func(s *settings) {
		if d <= 0 {
			s.fail("backoff %s: use a positive time", d)
		}
		s.backoff.set, s.backoff.d = true, d
	}
}

// Optional makes a handler for deletions need no finalizer: it isn't called if the object is gone by then.
func Optional() Option { return func(s *settings) { s.Optional = true } }

// WhileDeleting makes a handler for Resume be called for an object that is being deleted, too.
func WhileDeleting() Option { return func(s *settings) { s.ResumeDeleted = true } }

// Reports declares a condition for the outcome of the handler: True when it has succeeded; False, with a reason from
// the table errs and the text of the error, when an attempt has failed. A call for Resume that succeeds leaves a
// condition that is True as it is. Handlers that report the same condition share one table: use one Option for all of
// them, or leave errs out for all but one.
func Reports(conditionType string, errs ...status.ErrorReason) Option {
	return func(s *settings) { s.reports = append(s.reports, status.Declared{Type: conditionType, Errors: errs}) }
}

// Formerly names earlier ids of the handler, so that a change of its id repeats nothing for objects whose handlers have
// not all ended, and so that a Cron isn't called earlier.
func Formerly(ids ...string) Option {
	return func(s *settings) { s.formerly = append(s.formerly, ids...) }
}

// Label limits the handler to objects whose label passes.
func Label(key string, check Check) Option {
	return func(s *settings) { s.Filter.Labels = with(s.Filter.Labels, key, check) }
}

// Annotation limits the handler to objects whose annotation passes.
func Annotation(key string, check Check) Option {
	return func(s *settings) { s.Filter.Annotations = with(s.Filter.Annotations, key, check) }
}

// with returns checks with a further check for a key: several checks of one key have to pass together.
func with(checks map[string]Check, key string, check Check) map[string]Check {
	if checks == nil {
		checks = map[string]Check{}
	}
	if earlier, ok := checks[key]; ok {
		check = AllOf(earlier, check)
	}
	checks[key] = check
	return checks
}

// InField makes the handler be about one field: keys with dots between them, such as "spec.size". A key that has a dot
// or a slash stands in brackets: "metadata.annotations['example.dev/a']". Lists are compared as a whole. Without Value
// the field has to be present. A handler for updates is called only when the field changes.
func InField(path string) Option {
	return func(s *settings) {
		keys, err := fieldpath.Parse(path)
		switch earlier := s.Filter.Field; {
		case err != nil:
			s.errs, keys = append(s.errs, err), []string{path}
		case earlier != nil:
			s.fail("field %s: the field %s is named, too: register a handler for each", path, fieldpath.String(earlier))
		}
		s.Filter.Field = keys
	}
}

// Value limits the handler to objects whose field passes, see InField. For an update it is enough if the value before
// it passes.
func Value(check Check) Option {
	return func(s *settings) { s.Filter.Value = s.given("value", check) }
}

// Before limits a handler of updates to those in which the value of the field before the update passes.
func Before(check Check) Option { return func(s *settings) { s.Filter.Old = s.given("before", check) } }

// After limits a handler of updates to those in which the value of the field after the update passes.
func After(check Check) Option { return func(s *settings) { s.Filter.New = s.given("after", check) } }

// When limits the handler to objects for which passes returns true. It is called last, also for objects that other
// filters pass and for which nothing has happened. It must not change the object, and must depend on nothing else. T is
// the type of the Handlers.
func When[T any](passes func(object *T) bool) Option {
	return func(s *settings) {
		if passes == nil {
			s.fail("when: nil function")
			return
		}
		s.whenType = reflect.TypeFor[T]()
		s.Filter.When = func(object map[string]any) bool {
			typed, err := typed.Decode[T](object)
			return err == nil && passes(typed)
		}
	}
}

func (s *settings) given(name string, check Check) Check {
	if check == nil {
		s.fail("%s: nil check: use Absent for a field that isn't there", name)
	}
	return check
}

// AtCreation makes a handler of Field be called for a new object, too, if the field is present.
func AtCreation() Option {
	return func(s *settings) {
		if s.On&selection.Field == 0 {
			s.fail("at creation: only for handlers of Field: leave the option out, or add the cause Create")
			return
		}
		s.On |= selection.Create
	}
}
