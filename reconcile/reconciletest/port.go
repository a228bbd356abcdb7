package reconciletest

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// observed is the cluster as the reconcilers use it: calls are written down, and errors injected.
type observed struct {
	deploy.Cluster
	*Harness
}

func (o observed) Port() deploy.Port { return &port{o.Cluster.Port(), o.Cluster.View(), o.Harness} }
func (o observed) View() deploy.View { return faultyView(o.Cluster.View(), o.faults) }

type port struct {
	deploy.Port
	view    deploy.View
	harness *Harness
}

// before is the object as it is before a write; nil when it isn't known.
func (p *port) before(ctx context.Context, ref deploy.Ref) *unstructured.Unstructured {
	obj, err := p.view.Get(ctx, ref)
	if err != nil {
		return nil
	}
	return obj
}

// written completes a call that changed an object. after is nil when the content isn't known.
func (p *port) written(call Call, created bool, before, after *unstructured.Unstructured, err error) {
	if before != nil && after != nil {
		call.Changes = deploy.Changes(before.Object, after.Object)
	}
	switch {
	case err != nil:
		call.Action, call.Err = deploy.Failed, err
	case created:
		call.Action = deploy.Created
	// A server answers the version from before, too, when the last finalizer is taken off.
	case before != nil && after != nil && before.GetResourceVersion() == after.GetResourceVersion() && len(call.Changes) == 0:
		call.Action = deploy.Unchanged
	default:
		call.Action = deploy.Configured
	}
	p.harness.note(call)
}

// Get implements deploy.Port.
func (p *port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	err := p.harness.faults.meet(ref)
	var obj *unstructured.Unstructured
	if err == nil {
		obj, err = p.Port.Get(ctx, ref)
	}
	p.harness.note(Call{Verb: dryrun.Get, Ref: ref, Err: err})
	return obj, err
}

// List implements deploy.Port.
func (p *port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	objects, err := p.Port.List(ctx, kind, namespace, options)
	p.harness.note(Call{Verb: dryrun.List, Ref: deploy.Ref{Kind: kind, Namespace: namespace}, Err: err})
	return objects, err
}

// Create implements deploy.Port.
func (p *port) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	ref := deploy.RefOf(obj)
	err := p.harness.faults.meet(ref)
	var after *unstructured.Unstructured
	if err == nil {
		after, err = p.Port.Create(ctx, obj, options)
	}
	if after != nil {
		ref = deploy.RefOf(after)
	}
	if !options.DryRun {
		p.written(Call{Verb: dryrun.Create, Ref: ref}, true, nil, after, err)
	}
	return after, err
}

// Update implements deploy.Port.
func (p *port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	ref := deploy.RefOf(obj)
	before, err := p.before(ctx, ref), p.harness.faults.meet(ref)
	var after *unstructured.Unstructured
	if err == nil {
		after, err = p.Port.Update(ctx, obj, options)
	}
	if !options.DryRun {
		p.written(Call{Verb: dryrun.Update, Ref: ref}, false, before, after, err)
	}
	return after, err
}

// Apply implements deploy.Port.
func (p *port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	ref := deploy.RefOf(obj)
	before, err := p.before(ctx, ref), p.harness.faults.meet(ref)
	var applied deploy.Applied
	if err == nil {
		applied, err = p.Port.Apply(ctx, obj, options)
	}
	after := applied.Object
	if applied.Partial {
		after = nil
	}
	if !options.DryRun {
		p.written(Call{Verb: dryrun.Apply, Ref: ref}, applied.Created, before, after, err)
	}
	return applied, err
}

// Patch implements deploy.Port.
func (p *port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.Patch) (*unstructured.Unstructured, error) {
	before, err := p.before(ctx, ref), p.harness.faults.meet(ref)
	var after *unstructured.Unstructured
	if err == nil {
		after, err = p.Port.Patch(ctx, ref, patch)
	}
	if !patch.DryRun {
		p.written(Call{Verb: dryrun.Patch, Ref: ref, Subresource: patch.Subresource}, false, before, after, err)
	}
	return after, err
}

// Delete implements deploy.Port.
func (p *port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	err := p.harness.faults.meetRemoval(ref)
	if err == nil {
		err = p.Port.Delete(ctx, ref, options)
	}
	call := Call{Verb: dryrun.Delete, Ref: ref, Action: deploy.Removed, Err: err}
	if err != nil {
		call.Action = deploy.Failed
	}
	if !options.DryRun {
		p.harness.note(call)
	}
	return err
}

// note writes a call down.
func (h *Harness) note(call Call) {
	call.At = h.clock.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, call)
}
