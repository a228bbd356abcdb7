package desired

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/engine"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check returns all mistakes of the registration.
func (c *Controller[T]) check() error {
	errs := []error{typed.Check[T](), errors.Join(c.config.errs...)}
	if c.kind.Kind == "" || c.kind.Version == "" {
		errs = append(errs, fmt.Errorf("kind %q: needs a version and a kind", c.kind))
	}
	if c.syncer == nil || funcsOf(c.syncer).OnSync == nil {
		errs = append(errs, errors.New("nil syncer"))
	} else {
		errs = append(errs, checkMethods(c.syncer))
	}
	errs = append(errs, c.checkFinalizer(), c.checkRevisions())
	if err := c.config.readiness.Registry.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("readiness: %w", err))
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

// checkFinalizer returns what is wrong with the option FinalizerName.
func (c *Controller[T]) checkFinalizer() error {
	name := c.config.finalizer
	if name == nil {
		return nil
	}
	if faults := validation.IsQualifiedName(*name); len(faults) > 0 {
		return fmt.Errorf("finalizer %q: %s: use a name such as example.dev/cats", *name, strings.Join(faults, "; "))
	}
	if !strings.Contains(*name, "/") && !strings.Contains(c.kind.Group, ".") {
		return fmt.Errorf("finalizer %q: built-in kinds accept only finalizers with a domain and a slash: use a name such as example.dev/cats", *name)
	}
	return nil
}

// checkRevisions returns what is wrong with the option Revisions.
func (c *Controller[T]) checkRevisions() error {
	if len(c.config.Settings.Revisions) == 0 {
		return nil
	}
	var errs []error
	rolls := false
	for _, one := range c.config.children {
		rolls = rolls || one.Strategy.Rolls()
		if one.Kind.GroupKind() == revision.Kind.GroupKind() {
			errs = append(errs, fmt.Errorf("child %s: Revisions keeps its own objects of this kind: use another kind", one.Kind.GroupKind()))
		}
	}
	if !rolls {
		errs = append(errs, errors.New("revisions: no kind of children is rolled: use it with RollingInPlace or RollingRecreate"))
	}
	for _, path := range c.config.Settings.Revisions {
		if slices.Contains(strings.Split(path, "."), "") {
			errs = append(errs, fmt.Errorf("revisions: path %q: isn't a path of fields: use one such as spec.template", path))
		}
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
	if c.Deletable && !deploy.Protected(c.Kind.GroupKind()) {
		errs = append(errs, errors.New("deletable: its children are deleted anyway: leave it out, it is for kinds that hold data"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("child %s: %w", c.Kind.GroupKind(), err)
	}
	return nil
}
