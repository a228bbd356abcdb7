package composite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// New returns the controller of a definition. The parents and children must be of kinds that are served; otherwise the
// error is a *UnservedError. Of a definition, spec.parentResource.labelSelector, ignoreStatusChanges and
// revisionHistory, and statusChecks with a reason or without a status, aren't supported yet: they are errors.
func New(ctx context.Context, of *definition.Composite, served Served, hooks Hooks) (*desired.Controller[Parent], error) {
	kinds, unknown := served(ctx)
	s := &syncer{definition: of, served: served, hooks: hooks}
	options, err := s.children(kinds)
	options = append(options, desired.External())
	if hooks.Finalize != nil { // metacontroller's name, so that parents can be moved with their finalizer
		options = append(options, desired.FinalizerName("metacontroller.io/compositecontroller-"+of.Object.GetName()))
	}
	parent, missing := kindOf(of.Spec.Parent.Resource, kinds)
	if err = errors.Join(err, missing); err != nil {
		err = errors.Join(err, unknown) // the kind may be one that the cluster hasn't told
	}
	if err = errors.Join(err, unsupported(&of.Spec)); err != nil {
		return nil, fmt.Errorf("CompositeController %s: %w", of.Object.GetName(), err)
	}
	return desired.New(parent.Kind, s.withOptional(), options...), nil
}

// withOptional returns the Syncer with the optional methods of the hooks that there are.
func (s *syncer) withOptional() desired.Syncer[Parent] {
	switch {
	case s.hooks.Finalize != nil && s.hooks.Customize != nil:
		return struct {
			*syncer
			finalizer
			relater
		}{s, finalizer{s}, relater{s}}
	case s.hooks.Finalize != nil:
		return struct {
			*syncer
			finalizer
		}{s, finalizer{s}}
	case s.hooks.Customize != nil:
		return struct {
			*syncer
			relater
		}{s, relater{s}}
	}
	return s
}

// unsupported returns an error for what a definition has and this package hasn't.
func unsupported(spec *definition.CompositeSpec) error {
	var errs []error
	refuse := func(field string) {
		errs = append(errs, fmt.Errorf("spec.%s: isn't supported yet: remove it from the definition", field))
	}
	if spec.Parent.LabelSelector != nil {
		refuse("parentResource.labelSelector")
	}
	if spec.Parent.IgnoreStatusChanges {
		refuse("parentResource.ignoreStatusChanges")
	}
	if spec.Parent.Revisions != nil {
		refuse("parentResource.revisionHistory")
	}
	for i, child := range spec.Children {
		if child.Update == nil {
			continue
		}
		for j, check := range child.Update.Checks.Conditions {
			if check.Status == nil || check.Reason != nil {
				refuse(fmt.Sprintf("childResources[%d].updateStrategy.statusChecks.conditions[%d]: a check of a reason, or without a status", i, j))
			}
		}
	}
	return errors.Join(errs...)
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

// strategies are the strategies by the methods of definitions.
var strategies = map[string]desired.Strategy{
	"": desired.OnDelete, "OnDelete": desired.OnDelete, "InPlace": desired.InPlace, "Recreate": desired.Recreate,
	"RollingInPlace": desired.RollingInPlace, "RollingRecreate": desired.RollingRecreate,
}

// children returns the options for the children, and notes their kinds.
func (s *syncer) children(served []deploy.ServedKind) (options []desired.Option, err error) {
	var errs []error
	for _, rule := range s.definition.Spec.Children {
		kind, err := kindOf(rule.Resource, served)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.kinds = append(s.kinds, kind.Kind)
		method, checks := "", []desired.ChildOption{}
		if deploy.Protected(kind.Kind.GroupKind()) { // what a hook doesn't return is deleted, whatever it holds
			checks = append(checks, desired.Deletable())
		}
		if rule.Update != nil {
			method = rule.Update.Method
			for _, check := range rule.Update.Checks.Conditions {
				if check.Status != nil {
					checks = append(checks, desired.Healthy(check.Type, metav1.ConditionStatus(*check.Status)))
				}
			}
		}
		options = append(options, desired.Child(kind.Kind, strategies[method], checks...))
	}
	return options, errors.Join(errs...)
}
