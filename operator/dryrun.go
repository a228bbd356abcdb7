package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// dryRun rolls the given resources out against a cluster in memory and prints, in the order
// of the rollout, what would be applied. A resource that can't be rendered doesn't keep the
// others from being; all errors are reported at the end.
func (o *Operator) dryRun(ctx context.Context, out io.Writer, logger *slog.Logger, flags runFlags) error {
	resources, err := readResources(flags.resources)
	if err != nil {
		return err
	}
	writer, err := newRenderer(out, flags.outputDir)
	if err != nil {
		return err
	}
	var errs []error
	for _, resource := range resources {
		rendered, err := o.render(ctx, logger, resource)
		if err == nil {
			err = writer.write(resource, rendered)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", resource.origin, err))
		}
	}
	return errors.Join(errs...)
}

// rendered is one object as its component would apply it.
type rendered struct {
	component string
	object    *unstructured.Unstructured
}

// render reconciles one resource in an in-memory cluster of its own.
func (o *Operator) render(ctx context.Context, logger *slog.Logger, resource resourceFile) ([]rendered, error) {
	kind := resource.object.GroupVersionKind()
	at := slices.IndexFunc(o.controllers, func(c controller) bool { return c.Kind() == kind })
	if at < 0 {
		return nil, usage("%s %s is of no kind that this operator controls (%s): correct its apiVersion and kind",
			resource.object.GetAPIVersion(), resource.object.GetKind(), o.controlled())
	}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resource.object))
	if err != nil {
		return nil, err
	}
	var objects []rendered
	collect := reconcile.Observe(func(c *reconcile.Component, results deploy.Results) {
		if c.Disabled() {
			return
		}
		for i, obj := range c.Objects() {
			if i < len(results) {
				objects = append(objects, rendered{c.Name(), presentable(obj, results[i].Ref.Namespace)})
			}
		}
	})
	options := append(slices.Clone(o.controllers[at].options), reconcile.Logger(logger), reconcile.DryRun(), collect)
	reconciler, err := reconcile.New(o.controllers[at].Controller, deploy.NewManager(memory, o.managerOptions()...), options...)
	if err != nil {
		return nil, err
	}
	key := request.Key{Kind: kind, Namespace: resource.object.GetNamespace(), Name: resource.object.GetName()}
	_, err = reconciler.Reconcile(ctx, request.Request{Key: key})
	return objects, err
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

// presentable returns a copy of obj without anything that only a cluster can know: an owner
// with an invented uid, say, would have the garbage collector delete it all.
func presentable(obj *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	clean := obj.DeepCopy()
	clean.SetNamespace(namespace)
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "ownerReferences", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(clean.Object, "metadata", field)
	}
	delete(clean.Object, "status")
	return clean
}
