package desired

import (
	"context"
	"reflect"

	"github.com/operkit/operkit/reconcile/desired/internal/engine"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// functionsOf returns functions for parents of any type. Their panics are errors.
func functionsOf[T any](given Funcs[T]) (f engine.Functions) {
	f.Refused = refused
	f.Reads = func(parent *unstructured.Unstructured) error {
		if _, err := typed.Decode[T](parent.Object); err != nil {
			return unreadable(err)
		}
		return nil
	}
	if given.OnSync != nil {
		f.Sync = respond(given.OnSync)
	}
	if given.OnFinalize != nil {
		f.Finalize = respond(given.OnFinalize)
	}
	if given.OnSelects != nil {
		f.Selects = about(func(_ context.Context, parent *T) (bool, error) { return given.OnSelects(parent), nil })
	}
	if given.OnRelated != nil {
		f.Related = about(func(ctx context.Context, parent *T) (selections []engine.Selection, err error) {
			related, err := given.OnRelated(ctx, parent)
			for _, one := range related {
				selections = append(selections, engine.Selection(one))
			}
			return selections, err
		})
	}
	if given.OnAdopts != nil {
		f.Adopts = about(given.OnAdopts)
	}
	if given.OnFailed != nil {
		f.Failed = func(ctx context.Context, o engine.Observed, cause error) (any, error) {
			r, err := newRequest[T](ctx, o)
			if err != nil {
				return nil, err
			}
			return failure.Value(func() (any, error) { return given.OnFailed(r, cause), nil })
		}
	}
	return f
}

// respond returns a function of a Syncer for a parent of any type.
func respond[T any](f func(Request[T]) (Response, error)) func(context.Context, engine.Observed) (engine.Response, error) {
	return func(ctx context.Context, o engine.Observed) (engine.Response, error) {
		r, err := newRequest[T](ctx, o)
		if err != nil {
			return engine.Response{}, err
		}
		response, err := failure.Value(func() (Response, error) { return f(r) })
		return engine.Response(response), err
	}
}

// about returns a function of a parent of any type.
func about[T, V any](f func(ctx context.Context, parent *T) (V, error)) func(context.Context, *unstructured.Unstructured) (V, error) {
	return func(ctx context.Context, parent *unstructured.Unstructured) (value V, err error) {
		decoded, err := typed.Decode[T](parent.Object)
		if err != nil {
			return value, unreadable(err)
		}
		return failure.Value(func() (V, error) { return f(ctx, decoded) })
	}
}

func newRequest[T any](ctx context.Context, o engine.Observed) (Request[T], error) {
	parent, err := typed.Decode[T](o.Parent.Object)
	if err != nil {
		return Request[T]{}, unreadable(err)
	}
	return Request[T]{Parent: parent, Children: Objects{o.Children}, Related: Objects{o.Related}, ctx: ctx}, nil
}

// unreadable returns the error of a parent that T can't hold.
func unreadable(err error) error { return request.Permanent(&engine.UnreadableError{Err: err}) }

// checkMethods returns an error if a method of a Syncer has the name of an optional one and another signature.
func checkMethods[T any](syncer Syncer[T]) error {
	return optional.Check(syncer, reflect.TypeFor[Finalizer[T]](), reflect.TypeFor[Relater[T]](), reflect.TypeFor[Reporter[T]](), reflect.TypeFor[Adopter[T]](), reflect.TypeFor[Selector[T]]())
}
