package handlers

import (
	"fmt"
	"iter"
	"log/slog"
	"reflect"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/index"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Index is a table of what the objects of another kind say, such as which Pods use a volume, by key. It is in memory,
// and complete before the first handler is called; changes of these objects call no handler. It is safe for concurrent
// use.
type Index[K comparable, V any] struct {
	table *index.Index[K, V]
}

// indexer is an Index of any types.
type indexer interface {
	Check() error
	Reset()
	Source(logger *slog.Logger) source.Indexed
}

// NewIndex registers an index of the objects of kind for the handlers. values is called for each object when it is
// first seen and when it changes, and returns its values by key; none takes it out of the index. An object that is
// deleted is taken out. When values fails, the error is logged, and the last values of the object stay, unless
// DropFailed is set. values must not block. P is a struct that encoding/json decodes the objects into, or Unstructured.
// The options are those that limit handlers to some objects: Label, Annotation, InField, Value, OwnedBy and When.
func NewIndex[T, P any, K comparable, V any](
	h *Handlers[T], name string, kind schema.GroupVersionKind, values func(object *P) (map[K]V, error), opts ...Option,
) *Index[K, V] {
	s := &settings{Handler: selection.Handler{ID: name, On: selection.Seen}}
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	if s.whenType != nil && s.whenType != reflect.TypeFor[P]() {
		s.fail("when: it is about a %s, the index is about a %s: use the same type", s.whenType, reflect.TypeFor[P]())
	}
	if !s.onlyFilters() {
		s.fail("an index calls no handler: use only Label, Annotation, InField, Value, OwnedBy, When and DropFailed")
	}
	table := index.New(index.Declaration[P, K, V]{Name: name, Kind: kind, Filter: s.Filter, Values: values, DropFailed: s.dropFailed})
	for _, err := range s.errs {
		h.errs = append(h.errs, fmt.Errorf("index %q: %w", name, err))
	}
	h.indexes = append(h.indexes, table)
	return &Index[K, V]{table}
}

// onlyFilters reports whether nothing but filters was set.
func (s *settings) onlyFilters() bool {
	without := *s
	without.Filter, without.errs, without.whenType, without.dropFailed = selection.Filter{}, nil, nil, false
	return reflect.DeepEqual(without, settings{Handler: selection.Handler{ID: s.ID, On: selection.Seen}})
}

// DropFailed makes an index take an object out when the function of the index fails for it.
func DropFailed() Option { return func(s *settings) { s.dropFailed = true } }

// Get returns the values of all objects that have the key, ascending by namespace and name of the objects; nil if there
// are none.
func (i *Index[K, V]) Get(key K) []V { return i.table.Get(key) }

// Objects returns the objects that have the key with their values, ascending by namespace and name.
func (i *Index[K, V]) Objects(key K) iter.Seq2[deploy.Ref, V] { return i.table.Objects(key) }

// Keys returns the keys that have values, in no order.
func (i *Index[K, V]) Keys() []K { return i.table.Keys() }
