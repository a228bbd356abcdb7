package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// offline is a cluster in memory in which a resource is rendered.
type offline struct {
	operator *Operator
	process  *Process
	manager  *deploy.Manager
	// patches are the temporary patches of the resource.
	patches    []resourceFile
	controller *temporarypatch.Controller
	patching   *temporarypatch.Reconciler
	// seen are the resources that were rendered.
	seen []deploy.Ref
}

// rendered is a resource and its components.
type rendered struct {
	resource   deploy.Ref
	components []manifest.Component
}

// render renders a resource, or its deletion, with its temporary patches. Then it renders those of its objects whose
// kinds this operator controls.
func (o *Operator) render(
	ctx context.Context, p *Process, resource resourceFile, patches []resourceFile, beside []*unstructured.Unstructured, deletes bool,
) ([]rendered, error) {
	if err := o.checkComponents(resource.object.GroupVersionKind()); err != nil {
		return nil, err
	}
	ref := deploy.RefOf(resource.object)
	memory, err := o.memoryOf(resource.object, beside, objectsOf(patches)...)
	if err != nil {
		return nil, err
	}
	manager, err := o.Manager(memory)
	if err != nil {
		return nil, err
	}
	c := &offline{operator: o, process: p, manager: manager, patches: patches}
	if err := c.recordPatches(ctx); err != nil {
		return nil, err
	}
	if deletes {
		if err := c.delete(ctx, ref); err != nil {
			return nil, err
		}
	}
	all, err := c.render(ctx, ref)
	if err != nil {
		return nil, err
	}
	return all, c.checkPatches(ctx)
}

// memoryOf returns a cluster in memory with a resource, the objects beside it, and its patches. The resource takes the
// place of an object beside it.
func (o *Operator) memoryOf(resource *unstructured.Unstructured, beside []*unstructured.Unstructured, patches ...*unstructured.Unstructured) (*dryrun.Cluster, error) {
	ref := deploy.RefOf(resource)
	beside = slices.DeleteFunc(slices.Clone(beside), func(obj *unstructured.Unstructured) bool { return deploy.RefOf(obj) == ref })
	return o.memory(dryrun.Objects(beside...), dryrun.Objects(resource), dryrun.Objects(patches...))
}

// delete rolls the resource out, so that its Finalize finds the objects, and then deletes it.
func (c *offline) delete(ctx context.Context, ref deploy.Ref) error {
	if err := c.reconcile(ctx, ref); err != nil {
		c.process.Logger.Warn("the resource can't be rolled out: its deletion is rendered anyway", "object", ref, "error", err)
	}
	return c.manager.Port().Delete(ctx, ref, deploy.DeleteOptions{Propagation: metav1.DeletePropagationBackground})
}

// reconcile reconciles a resource once.
func (c *offline) reconcile(ctx context.Context, ref deploy.Ref, more ...reconcile.Option) error {
	more = append(more, reconcile.DryRun())
	if c.controller != nil {
		more = append(more, reconcile.WithPatches(noting{c.controller}))
	}
	reconciler, err := c.process.Reconciler(ctx, ref.Kind, c.manager, more...)
	if err != nil {
		return err
	}
	_, err = reconciler.Reconcile(ctx, request.Request{Key: ref})
	return err
}

// render renders a resource that is in the cluster, and then those of its objects whose kinds this operator controls.
func (c *offline) render(ctx context.Context, ref deploy.Ref) ([]rendered, error) {
	one := rendered{resource: ref}
	c.seen = append(c.seen, ref)
	var inner []deploy.Ref
	collect := reconcile.ObserveComponents(func(component *reconcile.Component, results deploy.Results) {
		one.components = append(one.components, manifest.Of(component, results))
		for _, result := range results {
			if c.operator.hasComponents(result.Ref.Kind) && result.Action != deploy.Removed {
				inner = append(inner, result.Ref)
			}
		}
	})
	if err := c.reconcile(ctx, ref, collect); err != nil {
		return nil, err
	}
	all := []rendered{one}
	for _, ref := range inner {
		present, err := c.manager.View().Get(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		if present == nil || slices.Contains(c.seen, ref) {
			continue
		}
		below, err := c.render(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		all = append(all, below...)
	}
	return all, nil
}

// separatePatches takes the temporary patches out of the resources. A patch whose target isn't among them is an error.
func (o *Operator) separatePatches(resources []resourceFile) (targets, patches []resourceFile, err error) {
	memory, err := dryrun.New()
	if err != nil {
		return nil, nil, err
	}
	manager, err := o.Manager(memory)
	if err != nil {
		return nil, nil, err
	}
	controller, err := o.Patches(manager)
	if err != nil || controller == nil {
		return resources, nil, err
	}
	for _, resource := range resources {
		if resource.object.GroupVersionKind() == controller.Kind() {
			patches = append(patches, resource)
		} else {
			targets = append(targets, resource)
		}
	}
	var errs []error
	for _, patch := range patches {
		if !slices.ContainsFunc(targets, func(resource resourceFile) bool { return isTarget(patch, resource) }) {
			target := temporarypatch.Target(patch.object)
			errs = append(errs, Usage("%s: the resource that it patches, %s of %s, isn't among the files", patch.origin, target, target.Kind.GroupVersion()))
		}
	}
	return targets, patches, errors.Join(errs...)
}

func isTarget(patch, resource resourceFile) bool {
	target, is := temporarypatch.Target(patch.object), deploy.RefOf(resource.object)
	return target.Kind.GroupKind() == is.Kind.GroupKind() && target.Namespace == is.Namespace && target.Name == is.Name
}

// patchesOf returns the patches of a resource.
func patchesOf(resource resourceFile, patches []resourceFile) []resourceFile {
	return slices.DeleteFunc(slices.Clone(patches), func(patch resourceFile) bool { return !isTarget(patch, resource) })
}

// noting is a controller of temporary patches that records their results as in a real cluster, for checkPatches.
type noting struct{ *temporarypatch.Controller }

// Patches implements patching.Patcher.
func (n noting) Patches(ctx context.Context, target patching.Target) ([]patching.Patch, error) {
	target.DryRun = false
	return n.Controller.Patches(ctx, target)
}

// recordPatches records the patches on their target, in the order of the files.
func (c *offline) recordPatches(ctx context.Context) (err error) {
	if c.controller, err = c.operator.Patches(c.manager); err != nil || c.controller == nil {
		return err
	}
	if c.patching, err = c.controller.Reconciler(reconcile.Logger(c.process.Logger)); err != nil {
		return err
	}
	return c.reconcilePatches(ctx)
}

func (c *offline) reconcilePatches(ctx context.Context) error {
	var errs []error
	for _, patch := range c.patches {
		if _, err := c.patching.Reconcile(ctx, request.Request{Key: deploy.RefOf(patch.object)}); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", patch.origin, err))
		}
	}
	return errors.Join(errs...)
}

// checkPatches returns an error for each patch that wasn't applied to the rendered target, except for expired and
// paused patches.
func (c *offline) checkPatches(ctx context.Context) error {
	if err := c.reconcilePatches(ctx); err != nil {
		return err
	}
	var errs []error
	for _, patch := range c.patches {
		current, err := c.manager.View().Get(ctx, deploy.RefOf(patch.object))
		if err != nil {
			return fmt.Errorf("%s: %w", patch.origin, err)
		}
		applied, found := status.Conditions(current).Get(temporarypatch.ConditionApplied)
		switch {
		case !found:
			c.process.Logger.Warn("temporary patch ignored: it is paused", "patch", patch.origin)
		case applied.Reason == temporarypatch.ReasonExpired:
			c.process.Logger.Warn("temporary patch ignored", "patch", patch.origin, "reason", applied.Message)
		case applied.Status != metav1.ConditionTrue:
			errs = append(errs, fmt.Errorf("%s: %s", patch.origin, applied.Message))
		}
	}
	return errors.Join(errs...)
}
