package desired

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/desired/internal/engine"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// check returns all mistakes of the registration.
func (c *Controller[T]) check() error {
	errs := []error{typed.Check[T](), errors.Join(c.config.errs...)}
	if c.kind.Kind == "" || c.kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: needs a version and a kind", c.kind))
	}
	if c.syncer == nil {
		errs = append(errs, errors.New("nil syncer"))
	} else {
		errs = append(errs, checkMethods(c.syncer))
	}
	declared := map[schema.GroupKind]bool{}
	for _, one := range c.config.children {
		if declared[one.Kind.GroupKind()] {
			errs = append(errs, fmt.Errorf("child %s: declared twice: declare each kind once", one.Kind.GroupKind()))
		}
		declared[one.Kind.GroupKind()] = true
		if one.Kind.GroupKind() == c.kind.GroupKind() {
			errs = append(errs, fmt.Errorf("child %s: it is the kind of the parents: use another kind", one.Kind.GroupKind()))
		}
		errs = append(errs, one.check())
	}
	return errors.Join(errs...)
}

// check returns what is wrong with a declared kind.
func (c *child) check() error {
	errs := c.errs
	if c.Kind.Kind == "" || c.Kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: needs a version and a kind", c.Kind))
	}
	if !engine.Knows(c.Strategy) {
		errs = append(errs, fmt.Errorf("unknown strategy %q: use OnDelete, InPlace, Replace, Recreate, RollingInPlace or RollingRecreate", c.Strategy))
	}
	if len(c.healthy) > 0 && !c.Strategy.Rolls() {
		errs = append(errs, errors.New("healthy: nobody waits for the health of its children: use it with RollingInPlace and RollingRecreate"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("child %s: %w", c.Kind.GroupKind(), err)
	}
	return nil
}
