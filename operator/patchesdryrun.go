package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// patchFiles are temporary patches among the resources of a dry run, in their order.
type patchFiles []resourceFile

// separatePatches takes the temporary patches out of the resources of a dry run. One whose target isn't among them is
// an error.
func (o *Operator) separatePatches(resources []resourceFile) (targets []resourceFile, patches patchFiles, err error) {
	memory, err := dryrun.New()
	if err != nil {
		return nil, nil, err
	}
	controller, err := o.newPatches(deploy.NewManager(memory, o.managerOptions()...), slog.New(slog.DiscardHandler))
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
			errs = append(errs, usage("%s: the resource that it patches, %s of %s, isn't among the files", patch.origin, target, target.Kind.GroupVersion()))
		}
	}
	return targets, patches, errors.Join(errs...)
}

func isTarget(patch, resource resourceFile) bool {
	target, is := temporarypatch.Target(patch.object), deploy.RefOf(resource.object)
	return target.Kind.GroupKind() == is.Kind.GroupKind() && target.Namespace == is.Namespace && target.Name == is.Name
}

// of returns the patches for one resource.
func (p patchFiles) of(resource resourceFile) patchFiles {
	return slices.DeleteFunc(slices.Clone(p), func(patch resourceFile) bool { return !isTarget(patch, resource) })
}

func (p patchFiles) objects() []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(p))
	for i, patch := range p {
		objects[i] = patch.object
	}
	return objects
}

// dryPatching is the temporary patches of one resource in a cluster in memory.
type dryPatching struct {
	files      patchFiles
	view       deploy.View
	logger     *slog.Logger
	controller *temporarypatch.Controller
	reconciler *temporarypatch.Reconciler
}

// record has patches, which are in the manager's cluster, recorded on their target, one after the other, as in a
// cluster to which they come in this order.
func (o *Operator) record(ctx context.Context, manager *deploy.Manager, logger *slog.Logger, patches patchFiles) (*dryPatching, error) {
	controller, err := o.newPatches(manager, logger)
	if err != nil || controller == nil {
		return &dryPatching{}, err
	}
	reconciler, err := controller.Reconciler(reconcile.Logger(logger))
	if err != nil {
		return nil, err
	}
	p := &dryPatching{patches, manager.View(), logger, controller, reconciler}
	return p, p.reconcile(ctx)
}

// patched adds to the options of the controller whose resource is patched.
func (p *dryPatching) patched(options []reconcile.Option) []reconcile.Option {
	if p.controller == nil {
		return options
	}
	return append(options, reconcile.WithPatches(told{p.controller}))
}

// told are patches that are told what a dry run makes of them: its cluster is in memory, and judge asks them.
type told struct{ *temporarypatch.Controller }

// Patches implements reconcile.Patcher.
func (t told) Patches(ctx context.Context, target reconcile.Target) ([]reconcile.Patch, error) {
	target.DryRun = false
	return t.Controller.Patches(ctx, target)
}

func (p *dryPatching) reconcile(ctx context.Context) error {
	var errs []error
	for _, patch := range p.files {
		key := deploy.Ref{Kind: p.reconciler.Kind(), Namespace: patch.object.GetNamespace(), Name: patch.object.GetName()}
		if _, err := p.reconciler.Reconcile(ctx, request.Request{Key: key}); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", patch.origin, err))
		}
	}
	return errors.Join(errs...)
}

// judge tells, once the target is rendered, which patches don't do what they say. One that has expired says so
// itself.
func (p *dryPatching) judge(ctx context.Context) error {
	if err := p.reconcile(ctx); err != nil {
		return err
	}
	var errs []error
	for _, patch := range p.files {
		current, err := p.view.Get(ctx, deploy.RefOf(patch.object))
		if err != nil {
			return fmt.Errorf("%s: %w", patch.origin, err)
		}
		applied, found := status.Conditions(current).Get(temporarypatch.ConditionApplied)
		switch {
		case !found:
			p.logger.Warn("temporary patch ignored: it is paused", "patch", patch.origin)
		case applied.Reason == temporarypatch.ReasonExpired:
			p.logger.Warn("temporary patch ignored", "patch", patch.origin, "reason", applied.Message)
		case applied.Status != metav1.ConditionTrue:
			errs = append(errs, fmt.Errorf("%s: %s", patch.origin, applied.Message))
		}
	}
	return errors.Join(errs...)
}
