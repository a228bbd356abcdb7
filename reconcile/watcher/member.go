package watcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher/internal/hold"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// member is one watcher of a kind.
type member struct {
	settings
	isReconciler bool
	// object is the type of the objects.
	object     reflect.Type
	finalizers []string
	// call calls the watcher.
	call func(ctx context.Context, a *attempt) work.Outcome
	// limit is for how many objects the watcher is called at a time, zero for any number.
	limit int
	// number counts the watchers of a kind in the order in which they were added.
	number uint64
	// removed: the watcher isn't called any more. filterPanicked, policyPanicked: such a panic was logged.
	removed, filterPanicked, policyPanicked *atomic.Bool
}

// names are valid names.
var names = regexp.MustCompile(`^[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?$`)

// longestName bounds the length of a name.
const longestName = 63

// Add adds a watcher. Watchers are called in the order in which they were added, one after the other; one that fails
// doesn't stop the others. name names it in logs, metrics and retries.
func Add[T any](name string, w Watcher[T], opts ...Option) Option {
	m := newMember[T](inAdd, name, opts)
	value := reflect.ValueOf(w)
	if !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil() {
		m.fail("nil watcher")
		return m.option()
	}
	inner, err := opinionatedIn(w)
	if err != nil {
		m.fail("unwrap: %w", err)
	}
	for _, one := range inner {
		m.errs = append(m.errs, named(name, one.errs)...)
		m.finalizers = append(m.finalizers, finalizersOf(one.rules)...)
	}
	if own, ok := w.(*opinionated[T]); ok {
		m.call = func(ctx context.Context, a *attempt) work.Outcome { return a.withFinalizer(ctx, own.rules, own.call) }
		return m.option()
	}
	m.call = func(ctx context.Context, a *attempt) work.Outcome { return work.Outcome{Err: callWatcher(ctx, w, a)} }
	return m.option()
}

func callWatcher[T any](ctx context.Context, w Watcher[T], a *attempt) error {
	object, err := decode[T](a.object)
	if err != nil {
		return err
	}
	switch a.call.Action {
	case Created:
		return w.Add(ctx, object)
	case Deleted:
		return w.Delete(ctx, object)
	case Updated, Resynced:
		old, err := decode[T](a.call.Old)
		if err != nil {
			return err
		}
		return w.Update(ctx, old, object)
	}
	return nil
}

// decode returns an object as a T. An error lasts until the object changes.
func decode[T any](object *work.Object) (*T, error) {
	decoded, err := typed.Decode[T](object.Object)
	return decoded, request.Permanent(err)
}

// Request is what a Reconciler is called for.
type Request[T any] struct {
	// Action says why.
	Action Action
	// Object is the object, a copy of the caller's own. For Deleted it is the last state.
	Object *T
	// Attempt is the number of failures in a row before this call.
	Attempt int
	// State is the State that the call before has returned, if this call repeats it, otherwise nil.
	State any
}

// Result is the result of a Reconciler.
type Result struct {
	// RequeueAfter asks for another call with the same action after this time, zero for none. With an error it takes
	// the place of the time of the retry policy, and the failure doesn't count; the error is reported all the same.
	RequeueAfter time.Duration
	// State is for the call that repeats this one, because of RequeueAfter or of an error; nil keeps the state before.
	// It is lost when the process ends.
	State any
}

// Reconciler is one function for all actions. See Watcher for errors and concurrency.
type Reconciler[T any] func(ctx context.Context, r Request[T]) (Result, error)

// AddReconciler adds a function for all actions, which may carry State from one try to the next one. Its calls come
// after those of the watchers. With the option Finalizer, the object gets the finalizer when its first call has
// succeeded, Deleted comes when the deletion has begun, and the finalizer is removed when that call has succeeded
// without RequeueAfter.
func AddReconciler[T any](name string, reconcile Reconciler[T], opts ...Option) Option {
	m := newMember[T](inAddReconciler, name, opts)
	m.isReconciler = true
	if reconcile == nil {
		m.fail("nil function")
		return m.option()
	}
	run := func(ctx context.Context, a *attempt, action Action) work.Outcome {
		object, err := decode[T](a.object)
		if err != nil {
			return work.Outcome{Err: err}
		}
		result, err := reconcile(ctx, Request[T]{Action: action, Object: object, Attempt: a.call.Failures, State: a.call.State})
		return work.Outcome{Err: err, After: max(result.RequeueAfter, 0), State: result.State}
	}
	m.call = func(ctx context.Context, a *attempt) work.Outcome { return run(ctx, a, a.call.Action) }
	if m.rules.Final != "" {
		m.rules.Needed, m.rules.IsReconciler = true, true
		m.finalizers = finalizersOf(m.rules)
		m.call = func(ctx context.Context, a *attempt) work.Outcome { return a.withFinalizer(ctx, m.rules, run) }
	}
	return m.option()
}

func newMember[T any](place place, name string, opts []Option) *member {
	return &member{settings: newSettings(place, name, opts), object: reflect.TypeFor[T]()}
}

// joined returns a member for one kind. The same option may add a watcher to several kinds, or again. concurrency is
// that of the kind.
func (m *member) joined(concurrency int) *member {
	joined := *m
	joined.removed, joined.filterPanicked, joined.policyPanicked = &atomic.Bool{}, &atomic.Bool{}, &atomic.Bool{}
	joined.limit = max(cmp.Or(m.concurrency, concurrency), 0)
	return &joined
}

func finalizersOf(rules hold.Rules) (finalizers []string) {
	for _, name := range []string{rules.Final, rules.InProgress} {
		if name != "" && !slices.Contains(finalizers, name) {
			finalizers = append(finalizers, name)
		}
	}
	return finalizers
}

func named(name string, errs []error) (all []error) {
	for _, err := range errs {
		all = append(all, fmt.Errorf("watcher %q: %w", name, err))
	}
	return all
}

// option returns the option that adds the member.
func (m *member) option() Option {
	return func(s *settings) {
		s.only("add", inNew)
		s.members = append(s.members, m)
	}
}

// check returns the mistakes of the registration of a watcher of objects of a type.
func (m *member) check(object reflect.Type) error {
	errs := slices.Clone(m.errs)
	if !names.MatchString(m.name) || len(m.name) > longestName {
		errs = append(errs, fmt.Errorf("watcher %q: the name isn't valid: use up to %d letters, digits, hyphens, dots and underscores", m.name, longestName))
	}
	if m.object != object {
		errs = append(errs, fmt.Errorf("watcher %q: it is about a %s, the kind about a %s: use the same type", m.name, m.object, object))
	}
	return errors.Join(errs...)
}

// collides returns an error if a watcher has the name, or a finalizer, of an earlier one.
func (m *member) collides(earlier []*member) error {
	var errs []error
	taken := map[string]bool{}
	for _, other := range earlier {
		if other.name == m.name {
			errs = append(errs, fmt.Errorf("watcher %q: there is one already: give each one a name of its own", m.name))
		}
		for _, name := range other.finalizers {
			taken[name] = true
		}
	}
	for _, name := range m.finalizers {
		if taken[name] {
			errs = append(errs, fmt.Errorf("watcher %q: finalizer %q: another watcher has it: give each one its own", m.name, name))
		}
		taken[name] = true
	}
	return errors.Join(errs...)
}
