package operator

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/reconcile/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rendering is one resource and its components.
type rendering struct {
	resource   *unstructured.Unstructured
	components []manifest.Component
}

// offline is a cluster in memory in which one resource is rendered, and what the operator controls of what it renders.
type offline struct {
	operator *Operator
	process  *process
	manager  *deploy.Manager
	patching *dryPatching
	// rendered are the resources that were.
	rendered []deploy.Ref
}

// render reconciles one resource, or its deletion, with its temporary patches, in an in-memory cluster of its own, and
// then the resources among what it renders that this operator controls too.
func (o *Operator) render(
	ctx context.Context, p *process, resource resourceFile, patches patchFiles, beside []*unstructured.Unstructured, deletes bool,
) ([]rendering, error) {
	if _, err := o.controllerFor(resource.object); err != nil {
		return nil, err
	}
	if err := o.extend(ctx, p); err != nil {
		return nil, err
	}
	ref := deploy.RefOf(resource.object)
	beside = slices.DeleteFunc(slices.Clone(beside), func(obj *unstructured.Unstructured) bool { return deploy.RefOf(obj) == ref })
	memory, err := o.memory(dryrun.Objects(beside...), dryrun.Objects(resource.object), dryrun.Objects(patches.objects()...))
	if err != nil {
		return nil, err
	}
	c := &offline{operator: o, process: p, manager: deploy.NewManager(memory, o.managerOptions()...)}
	if c.patching, err = o.record(ctx, c.manager, p.logger, patches); err != nil {
		return nil, err
	}
	if deletes {
		if err := c.delete(ctx, resource.object); err != nil {
			return nil, err
		}
	}
	renderings, err := c.render(ctx, resource.object)
	if err != nil {
		return nil, err
	}
	return renderings, c.patching.judge(ctx)
}

// delete has a resource be one that is being deleted. It is rolled out first, for what its Finalize looks at.
func (c *offline) delete(ctx context.Context, resource *unstructured.Unstructured) error {
	ref := deploy.RefOf(resource)
	if err := c.reconcile(ctx, ref); err != nil {
		c.process.logger.Warn("the deletion is rendered of a resource that can't be rolled out", "object", ref, "error", err)
	}
	return c.manager.Port().Delete(ctx, ref, deploy.DeleteOptions{Propagation: metav1.DeletePropagationBackground})
}

// reconcile reconciles a resource once.
func (c *offline) reconcile(ctx context.Context, ref deploy.Ref, more ...reconcile.Option) error {
	controller, _ := c.operator.controllerOf(ref.Kind)
	options := c.process.optionsOf(controller, append(more, reconcile.DryRun())...)
	reconciler, err := reconcile.New(c.process.inPlaceOf(controller), c.manager, c.patching.patched(options)...)
	if err != nil {
		return err
	}
	key := deploy.Ref{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	_, err = reconciler.Reconcile(ctx, request.Request{Key: key})
	return err
}

// render renders a resource that is in the cluster, and what the operator controls of that.
func (c *offline) render(ctx context.Context, resource *unstructured.Unstructured) ([]rendering, error) {
	ref := deploy.RefOf(resource)
	c.rendered = append(c.rendered, ref)
	one := rendering{resource: resource}
	var inner []deploy.Ref
	collect := reconcile.Observe(func(component *reconcile.Component, results deploy.Results) {
		one.components = append(one.components, manifest.Of(component, results))
		for _, result := range results {
			if _, ours := c.operator.controllerOf(result.Ref.Kind); ours && result.Action != deploy.Removed {
				inner = append(inner, result.Ref)
			}
		}
	})
	if err := c.reconcile(ctx, ref, collect); err != nil {
		return nil, err
	}
	renderings := []rendering{one}
	for _, ref := range inner {
		if slices.Contains(c.rendered, ref) {
			continue
		}
		below, err := c.below(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		renderings = append(renderings, below...)
	}
	return renderings, nil
}

// below renders a resource that another one has rendered.
func (c *offline) below(ctx context.Context, ref deploy.Ref) ([]rendering, error) {
	resource, err := c.manager.View().Get(ctx, ref)
	if err != nil || resource == nil {
		return nil, err
	}
	return c.render(ctx, resource)
}

// controllerOf is the one of a kind.
func (o *Operator) controllerOf(kind schema.GroupVersionKind) (controller, bool) {
	at := slices.IndexFunc(o.controllers, func(c controller) bool { return c.Kind() == kind })
	if at < 0 {
		return controller{}, false
	}
	return o.controllers[at], true
}

// controllerFor is controllerOf for a resource that somebody gave.
func (o *Operator) controllerFor(resource *unstructured.Unstructured) (controller, error) {
	found, known := o.controllerOf(resource.GroupVersionKind())
	if !known {
		return found, usage("%s %s is of no kind that this operator controls (%s): correct its apiVersion and kind",
			resource.GetAPIVersion(), resource.GetKind(), o.controlled())
	}
	return found, nil
}

func (o *Operator) controlled() string {
	var text string
	for i, c := range o.controllers {
		if i > 0 {
			text += ", "
		}
		text += c.Kind().GroupVersion().String() + " " + c.Kind().Kind
	}
	return text
}
