package watch

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Controller reconciles the resources of a kind, in any style: it names the kind, and makes its Reconciler. An operator
// takes it by Operator.Drive, a test by reconciletest.Drive.
type Controller interface {
	// Kind returns the kind. It is called once, when the Controller is added.
	Kind() schema.GroupVersionKind
	// Reconciler makes the Reconciler, and starts nothing. It is called when a program starts, before anything is
	// watched, also on a replica that only waits for the leadership, and in a command that needs to know something
	// about the Reconciler. It is called again when the program goes on after a pause (package peering), or when a test
	// restarts it: each time it makes a new Reconciler, which knows nothing of the one before. A Controller that was
	// set up wrongly returns all its mistakes as an error, and the program ends. So does a panic.
	Reconciler(ctx context.Context, env Env) (Reconciler, error)
}

// NewController returns the Controller of kind whose Reconciler build makes.
func NewController(kind schema.GroupVersionKind, build func(ctx context.Context, env Env) (Reconciler, error)) Controller {
	return controller{kind, build}
}

type controller struct {
	kind  schema.GroupVersionKind
	build func(ctx context.Context, env Env) (Reconciler, error)
}

// Kind implements Controller.
func (c controller) Kind() schema.GroupVersionKind { return c.kind }

// Reconciler implements Controller.
func (c controller) Reconciler(ctx context.Context, env Env) (Reconciler, error) {
	if c.build == nil {
		return nil, errors.New("nil function: pass one that makes a reconciler")
	}
	return c.build(ctx, env)
}
