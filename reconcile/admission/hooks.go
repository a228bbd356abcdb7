package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Func decides about a request, see the package for what its error means. When ctx ends, the API server no longer
// waits.
type Func[T any] func(ctx context.Context, r *Request[T]) error

// Hooks are the functions that decide about the objects of one kind. T is a struct that encoding/json decodes objects
// into, or unstructured.Unstructured. Register all functions before the first use; mistakes are reported by Webhooks.
type Hooks[T any] struct {
	kind       schema.GroupVersionKind
	policy     policy
	validators []*function
	mutators   []*function
	errs       []error
}

// New returns Hooks for the objects of a kind. The API server converts objects of other versions to this one before it
// asks.
func New[T any](kind schema.GroupVersionKind, opts ...KindOption) *Hooks[T] {
	h := &Hooks[T]{kind: kind}
	optional.Apply(&h.policy, opts)
	return h
}

// Kind returns the kind of the objects.
func (h *Hooks[T]) Kind() schema.GroupVersionKind { return h.kind }

// Validate registers a function that allows or denies requests. name is for logs: use a-z, 0-9 and hyphens. What the
// function changes in the object is lost.
func (h *Hooks[T]) Validate(name string, f Func[T], opts ...Option) {
	h.validators = append(h.validators, h.function(name, f, opts, h.validators))
}

// Mutate registers a function that changes Request.Object before it is stored, and may deny the request as in Validate.
// It may be called several times for one request, also with what it has changed itself before.
func (h *Hooks[T]) Mutate(name string, f Func[T], opts ...Option) {
	h.mutators = append(h.mutators, h.function(name, f, opts, h.mutators))
}

// function returns the registered function and records its mistakes. others are the functions of the same sort.
func (h *Hooks[T]) function(name string, f Func[T], opts []Option, others []*function) *function {
	next := &function{name: name}
	optional.Apply(next, opts)
	var errs []error
	if f == nil {
		errs = append(errs, errors.New("nil function"))
	}
	for _, other := range others {
		if other.name == name {
			errs = append(errs, errors.New("a function of the same name is registered"))
		}
	}
	for _, err := range append(errs, next.mistakes()...) {
		h.errs = append(h.errs, fmt.Errorf("%q: %w", name, err))
	}
	next.call = func(ctx context.Context, c *call) (map[string]any, error) {
		r, err := newRequest[T](h.kind, c)
		if err != nil {
			return nil, err
		}
		return r.run(ctx, f)
	}
	return next
}

// check returns all mistakes of the registration.
func (h *Hooks[T]) check() error {
	errs := h.errs
	if h.kind.Kind == "" || h.kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: group, version and kind are needed", h.kind))
	}
	errs = append(errs, h.policy.mistakes()...)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("admission of %s: %w", h.kind.Kind, err)
	}
	return nil
}
