package deploy

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// witness sees what a Manager reads, and may object to it.
type witness struct {
	// guard is asked about each object that was read; nil asks nobody. Its error is the reader's.
	guard func(obj *unstructured.Unstructured) error

	mu   sync.Mutex
	seen map[Ref]*unstructured.Unstructured
}

// watchedBy returns a Manager that reads under the eyes of w.
func (m *Manager) watchedBy(w *witness, s settings) *Manager {
	watched := *m
	watched.settings = s
	watched.port = witnessedPort{m.port, w}
	watched.view = witnessedView{m.view, w}
	return &watched
}

// last is what was read of ref last; nil when it is absent or wasn't read.
func (w *witness) last(ref Ref) *unstructured.Unstructured {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[ref]
}

// all is what was read of every object.
func (w *witness) all() []*unstructured.Unstructured {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.seen))
}

func (w *witness) saw(ref Ref, obj *unstructured.Unstructured) error {
	w.mu.Lock()
	if w.seen == nil {
		w.seen = map[Ref]*unstructured.Unstructured{}
	}
	w.seen[ref] = obj
	w.mu.Unlock()
	if w.guard == nil || obj == nil {
		return nil
	}
	return w.guard(obj)
}

type witnessedView struct {
	View
	witness *witness
}

func (v witnessedView) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	obj, err := v.View.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	if err := v.witness.saw(ref, obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// Partial implements PartialView, by Get where the View beneath isn't one.
func (v witnessedView) Partial(ctx context.Context, ref Ref) (obj *unstructured.Unstructured, whole bool, err error) {
	partial, ok := v.View.(PartialView)
	if !ok {
		obj, err = v.Get(ctx, ref)
		return obj, true, err
	}
	if obj, whole, err = partial.Partial(ctx, ref); err != nil {
		return nil, false, err
	}
	if err := v.witness.saw(ref, obj); err != nil {
		return nil, false, err
	}
	return obj, whole, nil
}

type witnessedPort struct {
	Port
	witness *witness
}

func (p witnessedPort) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	obj, err := p.Port.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	if err := p.witness.saw(ref, obj); err != nil {
		return nil, err
	}
	return obj, nil
}
