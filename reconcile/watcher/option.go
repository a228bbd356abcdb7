package watcher

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/watcher/internal/hold"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Option is an option of New, Add, AddReconciler or Opinionate; nil is ignored. Retry, Dequeue, When, Concurrency and
// WritesStatus may be given to New, for all watchers, and to Add and AddReconciler, for one. An option in the wrong
// place is reported when the operator starts.
type Option func(*settings)

// place is where an option is given.
type place string

const (
	inNew           place = "New"
	inAdd           place = "Add"
	inAddReconciler place = "AddReconciler"
	inOpinionate    place = "Opinionate"
)

// settings are what options set.
type settings struct {
	place   place
	name    string
	members []*member
	errs    []error

	retry       *RetryPolicy
	dequeue     *DequeuePolicy
	when        filter.Predicate
	concurrency int
	resync      time.Duration
	onError     func(ctx context.Context, f Failure)
	// writesStatus: the watcher calls SetStatus.
	writesStatus bool
	rules        hold.Rules
	// inProgress: the option InProgress was given.
	inProgress bool
}

func newSettings(place place, name string, opts []Option) settings {
	s := settings{place: place, name: name}
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	if s.inProgress && s.rules.InProgress == "" && s.rules.Final != "" {
		s.rules.InProgress = s.rules.Final + "-in-progress"
	}
	if s.rules.Final != "" && s.rules.InProgress == s.rules.Final {
		s.fail("in progress: finalizer %q is that of Finalizer: use another name", s.rules.Final)
	}
	if place == inOpinionate && s.rules.Final == "" {
		s.fail("opinionate: no finalizer: use the option Finalizer")
	}
	if s.rules.Final == "" && (s.inProgress || s.rules.AnyChange) {
		s.fail("in progress, any change: they need a finalizer: use the option Finalizer")
	}
	for _, name := range []string{s.rules.Final, s.rules.InProgress} {
		if wrong := validation.IsQualifiedName(name); name != "" && len(wrong) > 0 {
			s.fail("finalizer %q: %s: use a domain, a slash and a name of at most 63 characters, such as example.dev/bucket", name, strings.Join(wrong, "; "))
		}
	}
	return s
}

func (s *settings) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if s.name != "" {
		err = fmt.Errorf("watcher %q: %w", s.name, err)
	}
	s.errs = append(s.errs, err)
}

// only reports the option name as a mistake unless it is given in one of the places.
func (s *settings) only(name string, places ...place) {
	var list []string
	for _, p := range places {
		if p == s.place {
			return
		}
		list = append(list, string(p))
	}
	s.fail("%s: not an option of %s: pass it to %s", name, s.place, strings.Join(list, " or "))
}

// Retry sets the policy by which calls are repeated; default DefaultRetry. nil never repeats.
func Retry(policy RetryPolicy) Option {
	return func(s *settings) {
		s.only("retry", inNew, inAdd, inAddReconciler)
		s.retry = &policy
	}
}

// Dequeue sets which repetitions an event drops; default Opinionated. nil drops all.
func Dequeue(policy DequeuePolicy) Option {
	return func(s *settings) {
		s.only("dequeue", inNew, inAdd, inAddReconciler)
		s.dequeue = &policy
	}
}

// When sets which events count; by default each does that changes the object. A watcher isn't called for other events,
// so pass filter.Lifecycle, too, unless it should miss creations or deletions. The first event that counts is a call of
// Add, whatever it is. The old state of Update may be newer than that of the last call: it is the state before the
// first event that counts. A watcher with a finalizer always learns of the beginning of a deletion.
func When(passes filter.Predicate) Option {
	return func(s *settings) {
		s.only("when", inNew, inAdd, inAddReconciler)
		if passes == nil {
			s.fail("when: nil filter")
		}
		s.when = passes
	}
}

// Concurrency sets for how many objects a watcher is called at a time; given to New, for each watcher. By default only
// the engine's workers limit it. An object that waits occupies no worker, and the first one that waits is the next one.
// The later watchers of the object wait with it, so that their order stays as it is.
func Concurrency(n int) Option {
	return func(s *settings) {
		s.only("concurrency", inNew, inAdd, inAddReconciler)
		if n < 1 {
			s.fail("concurrency %d: the watcher would never be called: use at least 1", n)
		}
		s.concurrency = n
	}
}

// Resync sets the time after which the watchers are called for an object even if nothing has happened, less up to a
// tenth at random, also after they were given up. By default they aren't.
func Resync(d time.Duration) Option {
	return func(s *settings) {
		s.only("resync", inNew)
		if d <= 0 {
			s.fail("resync %s: use a positive time", d)
		}
		s.resync = d
	}
}

// OnError sets a function that is called for each failure, after it was logged. It must not block for long: the object
// waits for it.
func OnError(report func(ctx context.Context, f Failure)) Option {
	return func(s *settings) {
		s.only("on error", inNew)
		if report == nil {
			s.fail("on error: nil function")
		}
		s.onError = report
	}
}

// WritesStatus declares that a watcher calls SetStatus; given to New, that each one may. The role of the operator gets
// the right to it.
func WritesStatus() Option {
	return func(s *settings) {
		s.only("writes status", inNew, inAdd, inAddReconciler)
		s.writesStatus = true
	}
}

// Finalizer sets the name of the finalizer of Opinionate or AddReconciler, such as example.dev/bucket. Finalizers of
// others stay as they are. Don't change the name of an operator that runs: its objects would never be deleted. The
// command release removes it.
func Finalizer(name string) Option {
	return func(s *settings) {
		s.only("finalizer", inOpinionate, inAddReconciler)
		if name == "" {
			s.fail(`finalizer "": use a domain, a slash and a name, such as example.dev/bucket`)
		}
		s.rules.Final = name
	}
}

// InProgress adds another finalizer before the first call for an object, which the one of Finalizer replaces when the
// call has succeeded: so an object that is deleted in between, or while no operator runs, still reaches Delete. Its
// name is that of the finalizer with the suffix -in-progress, unless one is given.
func InProgress(name ...string) Option {
	return func(s *settings) {
		s.only("in progress", inOpinionate, inAddReconciler)
		s.inProgress = true
		if len(name) > 1 {
			s.fail("in progress: %d names: use at most one", len(name))
		}
		if len(name) > 0 {
			s.rules.InProgress = name[0]
		}
	}
}

// AnyChange makes Opinionate call Update for each change of an object that has a generation. By default only a new
// generation counts: changes of the spec, not those of labels, annotations or the status.
func AnyChange() Option {
	return func(s *settings) {
		s.only("any change", inOpinionate)
		s.rules.AnyChange = true
	}
}
