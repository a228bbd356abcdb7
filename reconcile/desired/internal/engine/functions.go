package engine

import (
	"context"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/objects"
	"github.com/operkit/operkit/reconcile/desired/internal/plan"
	"github.com/operkit/operkit/reconcile/filter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Observed is what a function gets.
type Observed struct {
	Parent            *unstructured.Unstructured
	Children, Related objects.Set
}

// Response is what a function wants, see package desired.
type Response struct {
	Children    []any
	Status      any
	Labels      map[string]*string
	Annotations map[string]*string
	ResyncAfter time.Duration
	Finalized   bool
}

// Selection selects related objects, see package desired.
type Selection struct {
	Kind       schema.GroupVersionKind
	Namespace  string
	Everywhere bool
	Namespaces labels.Selector
	Names      []string
	Labels     labels.Selector
}

// Functions are the functions of a user, which don't panic. All but Sync, Reads and Refused may be nil.
type Functions struct {
	Sync, Finalize func(ctx context.Context, o Observed) (Response, error)
	Related        func(ctx context.Context, parent *unstructured.Unstructured) ([]Selection, error)
	Failed         func(ctx context.Context, o Observed, err error) (any, error)
	Adopts         func(ctx context.Context, parent *unstructured.Unstructured) (*metav1.LabelSelector, error)
	Selects        func(ctx context.Context, parent *unstructured.Unstructured) (bool, error)
	// Reads returns an UnreadableError if the type of the parents can't hold a parent.
	Reads func(parent *unstructured.Unstructured) error
	// Refused returns the error for a child that the parent can't have.
	Refused func(parent deploy.Ref, fault answer.Fault) error
}

// Settings say how the parents of a kind are reconciled, see package desired.
type Settings struct {
	Children []Child
	// Relates are the declared kinds of related objects.
	Relates []schema.GroupVersionKind
	// Finalizer is the name of the finalizer, empty for <domain>/<operator>.
	Finalizer string
	// When reports which events of parents count, nil for filter.Standard.
	When filter.Predicate
	// Revisions are the paths of the fields of a parent that its rolls follow, see package desired.
	Revisions []string
	// External: the functions may answer differently without an event.
	External bool
	// Decorates: the parents have a controller of their own, to which their status belongs.
	Decorates bool
}

// Child is a declared kind of children.
type Child struct {
	Kind     schema.GroupVersionKind
	Strategy plan.Strategy
	// Healthy reports whether a child does its work.
	Healthy func(obj *unstructured.Unstructured) bool
	// Deletable: children are deleted even if that deletes data.
	Deletable bool
}
