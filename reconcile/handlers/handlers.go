package handlers

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/handlers/internal/engine"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Unstructured is the T of Handlers for any kind.
type Unstructured = unstructured.Unstructured

// Func is a handler. See Request for what it gets. An error means that it is called again after a time, unless the
// error or the option Errors says otherwise; request.Permanent ends its attempts, and request.Precondition waits for
// something, without a warning and without end unless Within ends it. A panic is such an error. When ctx ends, return
// soon: the time of Within is over, or the process ends, and then the handler is called again by the next one.
type Func[T any] func(ctx context.Context, r *Request[T]) error

// Handlers are the handlers of the objects of one kind. T is a struct that encoding/json decodes objects into, or
// Unstructured. Register all handlers before the operator starts; mistakes are reported then. It is a watch.Controller.
//
// For an object that T can't hold, such as one with text where T has a number, no handler is called, and nothing is
// recorded: the conditions of the handlers that are due (Reports), with the reason ObjectUnreadable, an event and the
// log name the field. Once the object is corrected, it is handled, also if it is as it was before. Its deletion waits
// for that, too, if a handler of Delete is to be called: the finalizer stays, until the object is corrected or the
// operator's command release removes the finalizer. Give the kind a schema that refuses such objects.
type Handlers[T any] struct {
	kind     schema.GroupVersionKind
	handlers []*engine.Handler
	indexes  []indexer
	config   config
	errs     []error
	// daemons outlives the reconcilers, because daemons that were abandoned do.
	daemons *engine.Daemons
}

// New returns Handlers for the objects of a kind.
func New[T any](kind schema.GroupVersionKind, opts ...KindOption) *Handlers[T] {
	h := &Handlers[T]{kind: kind, daemons: engine.NewDaemons()}
	for _, opt := range opts {
		if opt != nil {
			opt(&h.config)
		}
	}
	return h
}

// Kind returns the kind of the objects.
func (h *Handlers[T]) Kind() schema.GroupVersionKind { return h.kind }

// On registers a handler for causes. id names it for good, in records, logs and the status: use a-z, 0-9 and hyphens.
func (h *Handlers[T]) On(causes Cause, id string, f Func[T], opts ...Option) {
	h.add(selection.On(causes), id, f, append([]Option{ofCauses(causes)}, opts...))
}

// Field registers a handler for changes of one field, such as "spec.size", see InField. Request.Diff has what has
// changed in the field. It isn't called for a new object unless AtCreation is set.
func (h *Handlers[T]) Field(path, id string, f Func[T], opts ...Option) {
	h.add(selection.Field, id, f, append([]Option{InField(path)}, opts...))
}

// Seen registers a handler for each event of the objects, also for existing objects when the operator starts: see
// Request.Event. It is called once for each, before other handlers. An error is logged. It isn't remembered what it has
// seen. Events of paused objects are left out. What the handler sets is written after the call; if that fails, it is
// logged, and what was set is lost. A change is an event, too: set the same value each time, or the handler is called
// without end.
func (h *Handlers[T]) Seen(id string, f Func[T], opts ...Option) {
	h.add(selection.Seen, id, f, opts)
}

// OnClusterEvent registers a handler for the Events (events.k8s.io) that anybody reports about the objects, such as the
// scheduler or the kubelet, from the start of the process on: see Request.Reported. An Event that is repeated is
// reported again; those of the operator itself are left out. As for Seen, an error is logged, nothing is called again,
// and what the handler sets is written after the call. The operator needs the right to list and watch Events, and holds
// those of its namespaces in memory.
func (h *Handlers[T]) OnClusterEvent(id string, f Func[T], opts ...Option) {
	h.add(selection.Reported, id, f, opts)
}

// Reconciler implements watch.Controller. The error has all mistakes of the registration.
func (h *Handlers[T]) Reconciler(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	c := h.config.Config
	c.Reads = reads[T]
	r, err := engine.New(h.kind, h.handlers, c, env, h.daemons)
	if err := errors.Join(h.check(), err); err != nil {
		return nil, fmt.Errorf("handlers of %s: %w", h.kind.Kind, err)
	}
	for _, one := range h.indexes {
		one.Reset() // the program may start again
		r.Follow(one.Source(env.Logger))
	}
	return r, nil
}

// reads returns why a T can't hold an object, nil if it can.
func reads[T any](object map[string]any) error {
	if reflect.TypeFor[T]() == reflect.TypeFor[Unstructured]() {
		return nil
	}
	_, err := typed.Decode[T](object)
	return err
}

// add registers a handler.
func (h *Handlers[T]) add(on selection.On, id string, f Func[T], opts []Option) {
	s := &settings{Handler: selection.Handler{ID: id, On: on}}
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	if f == nil {
		s.fail("nil function")
	}
	if s.whenType != nil && s.whenType != reflect.TypeFor[T]() {
		s.fail("when: it is about a %s, the handlers are about a %s: use the same type", s.whenType, reflect.TypeFor[T]())
	}
	s.validate()
	h.handlers = append(h.handlers, s.handler(func(ctx context.Context, a *engine.Attempt) error {
		r, err := newRequest[T](a)
		if err != nil {
			return err
		}
		return f(ctx, r)
	}))
	for _, err := range s.errs {
		h.errs = append(h.errs, fmt.Errorf("handler %q: %w", id, err))
	}
}
