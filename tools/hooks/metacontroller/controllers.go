package metacontroller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/internal/composite"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

// Controllers are the controllers that some files define. nil has none. It is safe for concurrent use.
type Controllers struct {
	byParent map[definition.Resource]*definition.Composite
}

// ReadFiles reads the definitions in YAML and JSON files, and in the files of folders, without subfolders: objects of
// the kind CompositeController of metacontroller.k8s.io/v1alpha1. Objects of other groups are ignored. The error has
// all mistakes of all files, with the path of each field. No definition at all is a mistake.
func ReadFiles(paths ...string) (*Controllers, error) {
	found, err := definition.ReadFiles(paths...)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, d := range found.Decorators {
		errs = append(errs, fmt.Errorf("DecoratorController %s: isn't supported yet: remove it from the definitions", d.Object.GetName()))
	}
	c := &Controllers{byParent: map[definition.Resource]*definition.Composite{}}
	for _, d := range found.Composites {
		parent := d.Spec.Parent.Resource
		if other := c.byParent[parent]; other != nil {
			errs = append(errs, fmt.Errorf("CompositeController %s: %s of %s has a controller, %s: remove one of the definitions",
				d.Object.GetName(), parent.Resource, parent.APIVersion, other.Object.GetName()))
		}
		c.byParent[parent] = d
	}
	if len(c.byParent) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%q: no CompositeController of %s: name the files that have some", paths, definition.GroupVersion))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Names returns the names of the controllers, in order.
func (c *Controllers) Names() []string {
	var names []string
	for d := range maps.Values(c.all()) {
		names = append(names, d.Object.GetName())
	}
	slices.Sort(names)
	return names
}

// Has reports whether a kind is that of the parents of a controller.
func (c *Controllers) Has(kind deploy.ServedKind) bool { return c.of(kind) != nil }

// Reconciler returns the reconciler of a kind of parents: for Operator.DriveKinds. It reads the certificates and
// credentials that the definition names, once. The children must be of kinds that are served.
func (c *Controllers) Reconciler(ctx context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error) {
	of := c.of(kind)
	if of == nil {
		return nil, fmt.Errorf("%s: no CompositeController has these parents", kind.Kind)
	}
	return composite.Reconciler(ctx, env, of)
}

func (c *Controllers) all() map[definition.Resource]*definition.Composite {
	if c == nil {
		return nil
	}
	return c.byParent
}

// of returns the definition of a kind of parents, nil if there is none.
func (c *Controllers) of(kind deploy.ServedKind) *definition.Composite {
	return c.all()[definition.Resource{APIVersion: kind.Kind.GroupVersion().String(), Resource: kind.Resource}]
}
