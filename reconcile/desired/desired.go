package desired

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/desired/internal/engine"
	"github.com/operkit/operkit/reconcile/watch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Unstructured is the T of a Syncer for any kind.
type Unstructured = unstructured.Unstructured

// Syncer computes what a parent wants. It may also be a Finalizer, a Selector, a Relater, a Reporter and an
// Adopter.
type Syncer[T any] interface {
	// Sync returns the wanted children and the status of a parent. It must be a pure function: it depends on the
	// Request alone, and changes nothing of it. It is called after each change of the parent, its children and its
	// related objects, and again after its own answer was applied, and it may be called any number of times more. After
	// an error no child is created, changed or deleted, and Sync is called again after a while; request.Permanent
	// leaves the parent alone until something changes. A panic is an error.
	//
	// Sync isn't called for a parent that is being deleted.
	Sync(r Request[T]) (Response, error)
}

// Finalizer may be implemented by a Syncer that has something to do before a parent is gone. With it, parents get a
// finalizer before the first Sync.
type Finalizer[T any] interface {
	// Finalize is called instead of Sync for a parent that is being deleted, until its Response is Finalized. Children
	// that it returns are kept or created, and others are deleted; so children can be deleted one after the other.
	//
	// It can't be called for a parent that T can't hold. The deletion of such a parent waits until the parent is
	// corrected or somebody removes the finalizer, and the condition ConditionUnreadable says so.
	Finalize(r Request[T]) (Response, error)
}

// Relater may be implemented by a Syncer that depends on objects that aren't its children.
type Relater[T any] interface {
	// Related selects the related objects of a parent. It is called before each Sync and Finalize; a change of one of
	// these objects brings the parent to reconcile. An error is one of the Sync. Objects of a kind that the cluster
	// doesn't serve are none; the parent is reconciled again after a minute. ctx ends with the reconcile.
	Related(ctx context.Context, parent *T) ([]Selection, error)
}

// Reporter may be implemented by a Syncer that reports errors in the status.
type Reporter[T any] interface {
	// Failed returns the status of a parent whose Sync, Finalize or children have failed, as for Response.Status. The
	// Request has the children as they are after the error, and the related objects as far as they were read. Failed
	// isn't called for errors that usually go away by themselves, such as a conflict with another writer. Conditions
	// stay until their types are returned again: if Failed returns a condition, Sync has to return its type, too.
	//
	// Without a Reporter, the status that Sync has returned is written if its children have failed.
	Failed(r Request[T], err error) any
}

// Selector may be implemented by a Syncer for some of the parents of its kind.
type Selector[T any] interface {
	// Selects reports whether a parent is one of this Syncer. It must be a pure function. Other parents aren't changed.
	//
	// A parent that isn't selected any more is finalized as if it were deleted: with a Finalizer, Finalize is called
	// until its Response is Finalized, and then the finalizer is removed. What it has then stays: the children that
	// Finalize has returned, and without a Finalizer all children, and the status.
	Selects(parent *T) bool
}

// Adopter may be implemented by a Syncer that adopts orphans: objects of the declared kinds that have no owner. Objects
// that others have made for the parent, so that it is their controller, are children, too, if they are selected.
type Adopter[T any] interface {
	// Adopts returns which orphans in the namespace of the parent become its children, after a Sync without an error. A
	// selector that selects everything is an error. An adopted object is a child like others: it is deleted if it isn't
	// wanted. A cluster-scoped parent adopts only cluster-scoped objects. ctx ends with the reconcile.
	//
	// An adopted object that isn't selected any more is released, after a Sync without an error that doesn't want it:
	// it is an orphan again. Two sorts of objects keep the parent as their controller whatever their labels: those that
	// this operator has applied, which stay its children, and those that others have given to the parent, which aren't
	// children without the labels.
	Adopts(ctx context.Context, parent *T) (*metav1.LabelSelector, error)
}

// Controller brings the parents of one kind, and their children, to the state that a Syncer wants. It is a
// watch.Controller.
type Controller[T any] struct {
	kind   schema.GroupVersionKind
	syncer Syncer[T]
	config config
}

// New returns a Controller for the parents of a kind. T is a struct that encoding/json decodes parents into, or
// Unstructured. Mistakes are reported when the operator starts.
func New[T any](kind schema.GroupVersionKind, syncer Syncer[T], opts ...Option) *Controller[T] {
	c := &Controller[T]{kind: kind, syncer: syncer}
	for _, opt := range opts {
		if opt != nil {
			opt(&c.config)
		}
	}
	return c
}

// Kind returns the kind of the parents.
func (c *Controller[T]) Kind() schema.GroupVersionKind { return c.kind }

// Reconciler implements watch.Controller. The error has all mistakes of the registration.
func (c *Controller[T]) Reconciler(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
	settings := c.config.Settings
	checker := c.config.readiness.Over(env.Readiness)
	for _, one := range c.config.children {
		declared := one.Child
		declared.Healthy = func(obj *unstructured.Unstructured) bool { return one.isHealthy(obj, checker) }
		settings.Children = append(settings.Children, declared)
	}
	if c.config.finalizer != nil {
		settings.Finalizer = *c.config.finalizer
	}
	r, err := engine.New(ctx, c.kind, functionsOf(funcsOf(c.syncer)), settings, env)
	if err = errors.Join(c.check(), err); err != nil {
		return nil, fmt.Errorf("children of %s: %w", c.kind.Kind, err)
	}
	return r, nil
}
