package index

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Declaration declares an Index of objects of the Go type P.
type Declaration[P any, K comparable, V any] struct {
	// Name is the name of the index in messages, and Kind the kind of the objects.
	Name string
	Kind schema.GroupVersionKind
	// Filter limits the objects, and When does so after it; nil passes all.
	Filter selection.Filter
	When   func(object *P) bool
	// Values returns the values of an object by key. None means that the object isn't in the table. It must not block:
	// other events wait for it.
	Values func(object *P) (map[K]V, error)
	// DropFailed removes the values of an object for which Values failed. Otherwise the last values stay.
	DropFailed bool
}

// Index is a Table that is kept up to date by events. New makes one.
type Index[K comparable, V any] struct {
	*Table[K, V]
	name       string
	dropFailed bool
	invalid    error
	// values returns the values of an object, none if a filter doesn't pass it.
	values func(object map[string]any) (map[K]V, error)

	mu sync.Mutex
	// faults are the texts of the errors of objects that fail.
	faults map[types.NamespacedName]string
	// resets counts the calls of Reset.
	resets int
}

// New returns an empty Index. Check says whether it can be used.
func New[P any, K comparable, V any](d Declaration[P, K, V]) *Index[K, V] {
	i := &Index[K, V]{
		Table: newTable[K, V](d.Kind), name: d.Name, dropFailed: d.DropFailed, invalid: d.check(),
		faults: map[types.NamespacedName]string{},
	}
	handler := selection.Handler{ID: d.Name, On: selection.Seen, Filter: d.Filter}
	i.values = func(object map[string]any) (map[K]V, error) {
		if !selection.Sees(handler, selection.Object{Body: object}) {
			return nil, nil
		}
		value, err := typed.Decode[P](object)
		if err != nil || d.When != nil && !d.When(value) {
			return nil, err
		}
		return d.Values(value)
	}
	return i
}

func (d Declaration[P, K, V]) check() error {
	errs := []error{d.Filter.Validate(selection.Seen), typed.Check[P]()}
	if d.Kind.Kind == "" || d.Kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: needs a version and a kind", d.Kind))
	}
	if d.Values == nil {
		errs = append(errs, errors.New("nil function: pass one that returns the values of an object"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("index %q: %w", d.Name, err)
	}
	return nil
}

// Check returns an error if the declaration is invalid, with all mistakes at once. Source must not be called then.
func (i *Index[K, V]) Check() error { return i.invalid }

// Reset empties the index, and ends what Source has returned so far. Call it when a program starts again with the same
// index, as a test does.
func (i *Index[K, V]) Reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.resets++
	i.clear()
	clear(i.faults)
}

// Source returns what keeps the index up to date, until Reset is called. An error of the function is logged once for
// each object, and again after another error or a success. Several reconcilers may share an index: each has a source.
func (i *Index[K, V]) Source(logger *slog.Logger) source.Indexed {
	i.mu.Lock()
	defer i.mu.Unlock()
	begun := i.resets
	return source.Indexed{Kind: i.kind, Index: func(event deploy.Event) { i.observe(event, begun, logger) }}
}

// observe updates the table after an event. begun is the number of resets when the source was made.
func (i *Index[K, V]) observe(event deploy.Event, begun int, logger *slog.Logger) {
	var values map[K]V
	var err error
	if event.Type != deploy.Deleted && event.Type != deploy.Left {
		values, err = failure.Value(func() (map[K]V, error) { return i.values(event.New.Object) })
	}
	ref := deploy.RefOf(event.New)
	name, uid := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, event.New.GetUID()
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case begun != i.resets:
	case err == nil:
		delete(i.faults, name)
		i.set(name, uid, values)
	default:
		kept := !i.dropFailed && i.uidOf(name) == uid
		if !kept {
			i.set(name, uid, nil)
		}
		if last, known := i.faults[name]; !known || last != err.Error() {
			i.faults[name] = err.Error()
			logger.Warn("the function of an index failed for an object", "index", i.name, "object", ref, "kept", kept, "err", err)
		}
	}
}
