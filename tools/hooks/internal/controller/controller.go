package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Parent is the T of the controllers of this package.
type Parent = desired.Unstructured

// Caller calls a hook. It is called concurrently.
type Caller interface {
	// Call sends a request and returns the response. subject names what the request is about: the uid of the parent.
	Call(ctx context.Context, subject string, body []byte) ([]byte, error)
}

// Hooks call the hooks of a definition, those that it has.
type Hooks struct{ Sync, Finalize, Customize Caller }

// Served returns the kinds that a cluster serves, such as the method Kinds of a deploy.KindView.
type Served func(ctx context.Context) ([]deploy.ServedKind, error)

// New returns the controller of a definition for one of its kinds of parents. The parents and children must be of kinds
// that are served; otherwise the error is a *UnservedError.
func New(ctx context.Context, of *definition.Controller, parents definition.ParentRule, served Served, hooks Hooks) (*desired.Controller[Parent], error) {
	kinds, unknown := served(ctx)
	s := &syncer{definition: of, parents: parents, served: served, hooks: hooks}
	options, err := s.children(kinds)
	parent, missing := kindOf(parents.Resource, kinds)
	if err = errors.Join(err, missing); err != nil {
		err = errors.Join(err, unknown) // the kind may be one that the cluster hasn't told
	}
	functions, wrong := s.functions()
	if err = errors.Join(err, wrong); err != nil {
		return nil, fmt.Errorf("%s: %w", of.Name(), err)
	}
	options = append(options, desired.External(), desired.FinalizerName(Finalizer(of)))
	if !parents.IgnoreStatusChanges {
		options = append(options, desired.When(filter.ResourceVersion()))
	}
	if parents.Revisions != nil && of.Rolls() {
		options = append(options, desired.Revisions(parents.Revisions.FieldPaths...))
	}
	if of.Style == definition.Decorator {
		options = append(options, desired.Decorates())
	}
	return desired.New(parent.Kind, functions, options...), nil
}

// Finalizer returns the name of the finalizer of the parents of a definition.
func Finalizer(of *definition.Controller) string { return finalizers[of.Style] + of.Object.GetName() }

// finalizers are the beginnings of the names of finalizers. They are those of metacontroller, so that parents can be
// moved with their finalizer.
var finalizers = map[definition.Style]string{
	definition.Composite: "metacontroller.io/compositecontroller-", definition.Decorator: "metacontroller.io/decoratorcontroller-",
}

// kindOf returns the kind of a resource.
func kindOf(r definition.Resource, served []deploy.ServedKind) (deploy.ServedKind, error) {
	version, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return deploy.ServedKind{}, err
	}
	at := slices.IndexFunc(served, func(one deploy.ServedKind) bool {
		return one.Resource == r.Resource && one.Kind.GroupVersion() == version
	})
	if at < 0 {
		return deploy.ServedKind{}, &UnservedError{r}
	}
	return served[at], nil
}

// UnservedError reports that the cluster doesn't serve a resource.
type UnservedError struct{ Resource definition.Resource }

// Error names the resource.
func (e *UnservedError) Error() string {
	return fmt.Sprintf("resource %s of %s: the cluster doesn't serve it: install its definition, or correct the name", e.Resource.Resource, e.Resource.APIVersion)
}
