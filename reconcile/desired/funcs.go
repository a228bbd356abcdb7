package desired

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Funcs is a Syncer of functions, for functions without a type of their own, and for those that are known only when the
// program runs. A nil function is as a method that the Syncer doesn't have. OnSync is required.
type Funcs[T any] struct {
	// OnSync is Syncer.Sync.
	OnSync func(r Request[T]) (Response, error)
	// OnFinalize is Finalizer.Finalize.
	OnFinalize func(r Request[T]) (Response, error)
	// OnSelects is Selector.Selects.
	OnSelects func(parent *T) bool
	// OnRelated is Relater.Related.
	OnRelated func(ctx context.Context, parent *T) ([]Selection, error)
	// OnAdopts is Adopter.Adopts.
	OnAdopts func(ctx context.Context, parent *T) (*metav1.LabelSelector, error)
	// OnFailed is Reporter.Failed.
	OnFailed func(r Request[T], err error) any
}

// Sync implements Syncer.
func (f Funcs[T]) Sync(r Request[T]) (Response, error) {
	if f.OnSync == nil {
		return Response{}, errors.New("nil OnSync")
	}
	return f.OnSync(r)
}

// funcsOf returns the methods of a Syncer.
func funcsOf[T any](syncer Syncer[T]) (f Funcs[T]) {
	switch given := syncer.(type) {
	case nil:
		return f
	case Funcs[T]:
		return given
	case *Funcs[T]:
		return *given
	}
	f.OnSync = syncer.Sync
	if s, ok := syncer.(Finalizer[T]); ok {
		f.OnFinalize = s.Finalize
	}
	if s, ok := syncer.(Selector[T]); ok {
		f.OnSelects = s.Selects
	}
	if s, ok := syncer.(Relater[T]); ok {
		f.OnRelated = s.Related
	}
	if s, ok := syncer.(Adopter[T]); ok {
		f.OnAdopts = s.Adopts
	}
	if s, ok := syncer.(Reporter[T]); ok {
		f.OnFailed = s.Failed
	}
	return f
}
