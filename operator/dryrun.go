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
	"github.com/operkit/operkit/reconcile/manifest"
	"github.com/operkit/operkit/reconcile/request"
)

// dryRun rolls the given resources out against a cluster in memory and prints, in the order
// of the rollout, what would be applied. A resource that can't be rendered doesn't keep the
// others from being; all errors are reported at the end.
func (o *Operator) dryRun(ctx context.Context, out io.Writer, logger *slog.Logger, flags runFlags) error {
	resources, err := readResources(flags.resources)
	if err != nil {
		return err
	}
	resources, patches, err := o.separatePatches(resources)
	if err != nil {
		return err
	}
	writer, err := newRenderer(out, flags)
	if err != nil {
		return err
	}
	var errs []error
	for _, resource := range resources {
		rendered, err := o.render(ctx, logger, resource, patches.of(resource))
		if err == nil {
			err = writer.write(resource, rendered)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", resource.origin, err))
		}
	}
	errs = append(errs, writer.close(logger))
	return errors.Join(errs...)
}

// render reconciles one resource, with its temporary patches, in an in-memory cluster of its own.
func (o *Operator) render(ctx context.Context, logger *slog.Logger, resource resourceFile, patches patchFiles) ([]manifest.Component, error) {
	kind := resource.object.GroupVersionKind()
	at := slices.IndexFunc(o.controllers, func(c controller) bool { return c.Kind() == kind })
	if at < 0 {
		return nil, usage("%s %s is of no kind that this operator controls (%s): correct its apiVersion and kind",
			resource.object.GetAPIVersion(), resource.object.GetKind(), o.controlled())
	}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resource.object), dryrun.Objects(patches.objects()...))
	if err != nil {
		return nil, err
	}
	var components []manifest.Component
	collect := reconcile.Observe(func(c *reconcile.Component, results deploy.Results) {
		components = append(components, manifest.Of(c, results))
	})
	manager := deploy.NewManager(memory, o.managerOptions()...)
	patching, err := o.record(ctx, manager, logger, patches)
	if err != nil {
		return nil, err
	}
	options := append(slices.Clone(o.controllers[at].options), reconcile.Logger(logger), reconcile.DryRun(), collect)
	reconciler, err := reconcile.New(o.controllers[at].Controller, manager, patching.patched(options)...)
	if err != nil {
		return nil, err
	}
	key := request.Key{Kind: kind, Namespace: resource.object.GetNamespace(), Name: resource.object.GetName()}
	if _, err := reconciler.Reconcile(ctx, request.Request{Key: key}); err != nil {
		return nil, err
	}
	return components, patching.judge(ctx)
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
