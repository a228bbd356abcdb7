package watcher

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Action is what a call is about.
type Action = work.Action

// The actions.
const (
	// Created: the watcher is called for the object for the first time. It stays the action until a call has succeeded.
	Created = work.Create
	// Updated: the object has changed since the last call that succeeded.
	Updated = work.Update
	// Deleted: the object is gone. With a Finalizer: the object is being deleted.
	Deleted = work.Delete
	// Resynced: nothing has happened. The time of Resync is over, or somebody forces a reconcile. With a Finalizer it
	// is also the first call for an object that was handled before this process.
	Resynced = work.Resync
)

// Watcher is called for what happens to the objects of a kind. An error means that the call is repeated as the retry
// policy says, with the latest state of the object; a panic is such an error. Calls for different objects run
// concurrently, calls for one object never do. The objects are copies of the caller's own.
//
// Errors of package request have their meaning: request.Permanent isn't retried, request.RetryAfter sets the time until
// the next try, and request.Precondition means waiting: see Retries in the documentation of the package.
type Watcher[T any] interface {
	// Add is called when the object was created, and for each object that exists when the process starts. It is called
	// until it has succeeded, also if the object changes meanwhile.
	Add(ctx context.Context, object *T) error
	// Update is called when the object has changed. old is the state of the last call that succeeded. For a resync, old
	// and object are the same state.
	Update(ctx context.Context, old, object *T) error
	// Delete is called with the last state of an object that is gone, if Add was called for the object. Deletions while
	// no operator runs are missed: see Opinionate.
	Delete(ctx context.Context, object *T) error
}

// Funcs are functions for Opinionate and Simple. A nil function does nothing, and succeeds.
type Funcs[T any] struct {
	// Add, Update and Delete are as the methods of Watcher.
	Add    func(ctx context.Context, object *T) error
	Update func(ctx context.Context, old, object *T) error
	Delete func(ctx context.Context, object *T) error
	// Sync is called by Opinionate for an object that was added before this process, and for a resync. Simple doesn't
	// call it.
	Sync func(ctx context.Context, object *T) error

	// wrapped is the watcher of Wrap, nil if there is none.
	wrapped Watcher[T]
}

// Simple returns a Watcher of functions.
func Simple[T any](f Funcs[T]) Watcher[T] { return simple[T]{f} }

type simple[T any] struct{ Funcs Funcs[T] }

// Unwrap returns the watcher of Wrap.
func (s simple[T]) Unwrap() Watcher[T] { return s.Funcs.wrapped }

// Add implements Watcher.
func (s simple[T]) Add(ctx context.Context, object *T) error { return one(ctx, s.Funcs.Add, object) }

// Update implements Watcher.
func (s simple[T]) Update(ctx context.Context, old, object *T) error {
	if s.Funcs.Update == nil {
		return nil
	}
	return s.Funcs.Update(ctx, old, object)
}

// Delete implements Watcher.
func (s simple[T]) Delete(ctx context.Context, object *T) error {
	return one(ctx, s.Funcs.Delete, object)
}

func one[T any](ctx context.Context, f func(ctx context.Context, object *T) error, object *T) error {
	if f == nil {
		return nil
	}
	return f(ctx, object)
}

// Wrap returns the methods of a watcher as Funcs, for Opinionate. syncToAdd says whether Sync calls Add; otherwise Sync
// is nil.
func Wrap[T any](w Watcher[T], syncToAdd bool) Funcs[T] {
	if w == nil {
		return Funcs[T]{}
	}
	f := Funcs[T]{Add: w.Add, Update: w.Update, Delete: w.Delete, wrapped: w}
	if syncToAdd {
		f.Sync = w.Add
	}
	return f
}

// Watchers are the watchers of the objects of one kind, as a watch.Controller. It is safe for concurrent use.
type Watchers[T any] struct {
	kind     schema.GroupVersionKind
	settings settings
	roster   *roster
}

// New returns the watchers of a kind. T is a struct that encoding/json decodes objects into, or
// unstructured.Unstructured. Watchers are added by the options Add and AddReconciler. Mistakes are reported when the
// operator starts, all at once.
func New[T any](kind schema.GroupVersionKind, opts ...Option) *Watchers[T] {
	s := newSettings(inNew, "", opts)
	roster := &roster{}
	for _, m := range s.members {
		roster.add(m.joined(s.concurrency))
	}
	return &Watchers[T]{kind: kind, settings: s, roster: roster}
}

// Kind implements watch.Controller.
func (w *Watchers[T]) Kind() schema.GroupVersionKind { return w.kind }

// Reconciler implements watch.Controller.
func (w *Watchers[T]) Reconciler(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("watchers of %s: %w", w.kind.Kind, err)
	}
	return newDispatcher(w.kind, &w.settings, w.roster, env), nil
}

// Add adds a watcher, as made by the option Add or AddReconciler, while the operator runs: it is called for all
// existing objects, too. Its calls come after those of the watchers, or reconcilers, that were added before. It stays
// until Remove of the handle is called. A finalizer needs the right to patch the objects, which the role has only if a
// watcher of New has a finalizer, too.
func (w *Watchers[T]) Add(added Option) (*Handle, error) {
	s := newSettings(inNew, "", []Option{added})
	if len(s.members) != 1 {
		return nil, errors.Join(append(s.errs, errors.New("add: use the option Add or AddReconciler"))...)
	}
	m := s.members[0].joined(w.settings.concurrency)
	if err := errors.Join(errors.Join(s.errs...), m.check(reflect.TypeFor[T]())); err != nil {
		return nil, err
	}
	if err := w.roster.join(m); err != nil {
		return nil, err
	}
	return &Handle{w.roster, m}, nil
}

// Handle is a watcher that was added while the operator runs.
type Handle struct {
	roster *roster
	member *member
}

// Remove removes the watcher: it isn't called any more, and what it was to repeat is dropped. A running call goes on. A
// finalizer of the watcher stays on the objects. A second call does nothing.
func (h *Handle) Remove() { h.roster.remove(h.member) }

// check returns all mistakes of the registration.
func (w *Watchers[T]) check() error {
	errs := append([]error{typed.Check[T]()}, w.settings.errs...)
	if w.kind.Kind == "" || w.kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: needs a version and a kind", w.kind))
	}
	for i, m := range w.settings.members {
		errs = append(errs, m.check(reflect.TypeFor[T]()), m.collides(w.settings.members[:i]))
	}
	return errors.Join(errs...)
}
