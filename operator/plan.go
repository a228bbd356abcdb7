package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reconcilerOf returns what reconciles resources of a kind on a cluster, for a command.
func (o *Operator) reconcilerOf(ctx context.Context, p *process, on deploy.Cluster, resource *unstructured.Unstructured, more ...reconcile.Option) (*reconcile.Reconciler, error) {
	controller, err := o.controllerFor(resource)
	if err != nil {
		return nil, err
	}
	if err := o.extend(ctx, p); err != nil {
		return nil, err
	}
	manager := deploy.NewManager(on, o.managerOptions()...)
	patches, err := o.newPatches(manager, p.logger)
	if err != nil {
		return nil, err
	}
	return reconcile.New(p.inPlaceOf(controller), manager, patchedBy(patches, p.optionsOf(controller, more...))...)
}

// asGiven are resources as files have them, as the cluster would have them if they were applied: nothing is.
func (o *Operator) asGiven(ctx context.Context, c *connection, s *selection) ([]*unstructured.Unstructured, error) {
	files, err := readResources("--filename", s.files)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	var errs []error
	for _, file := range files {
		if _, known := o.controllerOf(file.object.GroupVersionKind()); !known {
			errs = append(errs, usage("%s: it is of no kind that this operator controls: %s", file.origin, o.controlled()))
			continue
		}
		ref, err := s.ref(ctx, c, file.object.GroupVersionKind(), file.object.GetNamespace(), file.object.GetName())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		given := file.object.DeepCopy()
		given.SetNamespace(ref.Namespace)
		would, err := o.asWritten(ctx, c, given)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file.origin, c.explained(err)))
			continue
		}
		objects = append(objects, would)
	}
	return objects, errors.Join(errs...)
}

// asWritten is what the cluster answers to the dry run of a write that gives a resource a file's content: all of it, so that what
// the file leaves out is gone.
func (o *Operator) asWritten(ctx context.Context, c *connection, given *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	unstructured.RemoveNestedField(given.Object, "status")
	live, err := c.Port().Get(ctx, deploy.RefOf(given))
	var absent *deploy.NotFoundError
	if errors.As(err, &absent) {
		metadata := map[string]any{"name": given.GetName(), "namespace": given.GetNamespace()}
		keep(metadata, given, "labels", "annotations")
		given.Object["metadata"] = metadata
		return c.Port().Create(ctx, given, deploy.CreateOptions{FieldManager: o.name + "-cli", DryRun: true})
	}
	if err != nil {
		return nil, err
	}
	annotations := live.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, given.GetAnnotations())
	labels := given.GetLabels()
	given.Object["metadata"] = live.DeepCopy().Object["metadata"]
	given.SetAnnotations(annotations)
	if labels != nil {
		given.SetLabels(labels)
	}
	keep(given.Object, live, "status")
	return c.Port().Update(ctx, given, deploy.UpdateOptions{FieldManager: o.name + "-cli", DryRun: true})
}

// keep takes fields over: of the metadata, or the status.
func keep(into map[string]any, from *unstructured.Unstructured, fields ...string) {
	for _, field := range fields {
		path := []string{"metadata", field}
		if field == "status" {
			path = []string{field}
		}
		if value, found, _ := unstructured.NestedFieldCopy(from.Object, path...); found {
			into[field] = value
		}
	}
}

// plan tells what would change of a resource. The error says what of that can't be told.
func (o *Operator) plan(ctx context.Context, p *process, c *connection, obj *unstructured.Unstructured) (*reconcile.Plan, error) {
	reconciler, err := o.reconcilerOf(ctx, p, c, obj)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Watch.Timeout)
	defer cancel()
	plan, err := reconciler.Plan(ctx, obj)
	if err != nil {
		return plan, err
	}
	return plan, plan.Err()
}
