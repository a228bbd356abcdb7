package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/controller"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/joint"
)

// Controllers are the controllers that some files define. nil has none. It is safe for concurrent use.
type Controllers struct {
	all []*definition.Controller
}

// ReadFiles reads the definitions in YAML and JSON files, and in the files of folders, without subfolders: objects of
// the kinds CompositeController and DecoratorController of metacontroller.k8s.io/v1alpha1. Objects of other groups are
// ignored. The error has all mistakes of all files, with the path of each field. No definition at all is a mistake.
func ReadFiles(paths ...string) (*Controllers, error) {
	all, err := definition.ReadFiles(paths...)
	if len(all) == 0 && err == nil {
		err = fmt.Errorf("%q: no CompositeController or DecoratorController of %s: name the files that have some", paths, definition.GroupVersion)
	}
	if err = errors.Join(err, checkParents(all)); err != nil {
		return nil, err
	}
	return &Controllers{all}, nil
}

// checkParents returns an error for each two CompositeControllers that would have the same parents.
func checkParents(all []*definition.Controller) error {
	var errs []error
	first := map[definition.Resource]*definition.Controller{}
	for _, one := range all {
		if one.Style != definition.Composite || one.Parents[0].LabelSelector != nil {
			continue
		}
		parents := one.Parents[0].Resource
		if other := first[parents]; other != nil {
			errs = append(errs, fmt.Errorf("%s: %s of %s has a controller, %s: remove one of the definitions, or give both a labelSelector",
				one.Name(), parents.Resource, parents.APIVersion, other.Object.GetName()))
		}
		first[parents] = one
	}
	return errors.Join(errs...)
}

// Names returns the names of the controllers, in order.
func (c *Controllers) Names() []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, one := range c.all {
		names = append(names, one.Object.GetName())
	}
	slices.Sort(names)
	return names
}

// Has reports whether a kind is one of the parents of a controller.
func (c *Controllers) Has(kind deploy.ServedKind) bool {
	for range c.of(kind) {
		return true
	}
	return false
}

// Reconciler returns the reconciler of a kind of parents: for Operator.DriveKinds. It reads the certificates and
// credentials that the definitions name, once. The children must be of kinds that are served. Each controller has a
// field manager of its own, such as hooks/CompositeController/cats.
func (c *Controllers) Reconciler(ctx context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error) {
	var all joint.Reconciler
	var errs []error
	for one, parents := range c.of(kind) {
		made, err := controller.Reconciler(ctx, env, one, parents)
		member, ok := made.(joint.Member)
		if err == nil && !ok {
			err = fmt.Errorf("%s: a %T can't be joined with others", one.Name(), made)
		}
		all, errs = append(all, member), append(errs, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no controller has these parents", kind.Kind)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// of yields the definitions that have a kind of parents, with the rules that select them.
func (c *Controllers) of(kind deploy.ServedKind) func(yield func(*definition.Controller, definition.ParentRule) bool) {
	wanted := definition.Resource{APIVersion: kind.Kind.GroupVersion().String(), Resource: kind.Resource}
	return func(yield func(*definition.Controller, definition.ParentRule) bool) {
		if c == nil {
			return
		}
		for _, one := range c.all {
			for _, parents := range one.Parents {
				if parents.Resource == wanted && !yield(one, parents) {
					return
				}
			}
		}
	}
}
