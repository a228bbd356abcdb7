package reconciletest

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/reconciletest/internal/changes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// observed is the cluster that the reconcilers use: it records calls and injects errors.
type observed struct {
	deploy.Cluster
	*Harness
}

func (o observed) Port() deploy.Port {
	return &port{o.Cluster.Port(), o.Cluster.View(), o.Harness, o.process.Load()}
}
func (o observed) View() deploy.View { return shownView(o.Cluster.View(), o.Harness) }

type port struct {
	deploy.Port
	view    deploy.View
	harness *Harness
	process *mortal.Process
}

// write sends a write, unless an error is injected or the operator is killed, and records the call. after is nil if the
// content after the write isn't known.
func (p *port) write(ctx context.Context, call Call, dryRun bool, send func(ctx context.Context) (after *unstructured.Unstructured, created bool, err error)) error {
	var before, after *unstructured.Unstructured
	var created bool
	p.harness.gate.pass(ctx, call, "")
	if p.process.Dead() {
		return mortal.ErrKilled
	}
	var plan requestPlan
	if !dryRun {
		plan = p.harness.request()
	}
	if call.Verb != dryrun.VerbCreate {
		before, _ = p.view.Get(ctx, call.Ref)
	}
	err := p.harness.faults.meet(call.Ref)
	if err == nil {
		err = p.send(ctx, dryRun, func(ctx context.Context) error {
			return plan.send(call, func() (err error) {
				after, created, err = send(ctx)
				return err
			})
		})
	}
	if dryRun {
		return err
	}
	if created && after != nil {
		call.Ref = deploy.RefOf(after) // the name may be generated
	}
	if err == nil {
		p.harness.stalls.wrote(ctx, call.Ref, p.view)
	}
	if before != nil && after != nil {
		call.Changes = changes.Between(before.Object, after.Object)
	}
	switch {
	case err != nil:
		call.Action, call.Err = deploy.Failed, err
	case created:
		call.Action = deploy.Created
	// A server also returns the old version when the last finalizer is removed.
	case before != nil && after != nil && before.GetResourceVersion() == after.GetResourceVersion() && len(call.Changes) == 0:
		call.Action = deploy.Unchanged
	default:
		call.Action = deploy.Configured
	}
	p.harness.note(ctx, call)
	return err
}

// send sends a write, unless the operator is killed. A dry run is no write.
func (p *port) send(ctx context.Context, dryRun bool, write func(ctx context.Context) error) error {
	if dryRun {
		return write(ctx)
	}
	alive := !p.process.Dead()
	err := p.process.Send(func() error { return write(ctx) })
	if !errors.Is(err, mortal.ErrKilled) {
		return err
	}
	if alive {
		p.harness.late.keep(func() error { return write(context.WithoutCancel(ctx)) })
	}
	p.harness.woken()
	return err
}

// Get implements deploy.Port.
func (p *port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	call := Call{Verb: dryrun.VerbGet, Ref: ref}
	p.harness.gate.pass(ctx, call, "")
	plan := p.harness.request()
	err := p.harness.faults.meet(ref)
	var obj *unstructured.Unstructured
	if err == nil {
		err = plan.send(call, func() (err error) {
			obj, err = p.Port.Get(ctx, ref)
			return err
		})
	}
	call.Err = err
	p.harness.note(ctx, call)
	return obj, err
}

// List implements deploy.Port.
func (p *port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	call := Call{Verb: dryrun.VerbList, Ref: deploy.Ref{Kind: kind, Namespace: namespace}}
	var objects []*unstructured.Unstructured
	p.harness.gate.pass(ctx, call, fmt.Sprint(options.Labels, options.Fields))
	call.Err = p.harness.request().send(call, func() (err error) {
		objects, err = p.Port.List(ctx, kind, namespace, options)
		return err
	})
	p.harness.note(ctx, call)
	return objects, call.Err
}

// Create implements deploy.Port.
func (p *port) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (after *unstructured.Unstructured, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbCreate, Ref: deploy.RefOf(obj)}, options.DryRun, func(ctx context.Context) (*unstructured.Unstructured, bool, error) {
		after, err = p.Port.Create(asOperator(ctx), obj, options)
		return after, true, err
	})
	return after, err
}

// Update implements deploy.Port.
func (p *port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (after *unstructured.Unstructured, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbUpdate, Ref: deploy.RefOf(obj)}, options.DryRun, func(ctx context.Context) (*unstructured.Unstructured, bool, error) {
		after, err = p.Port.Update(asOperator(ctx), obj, options)
		return after, false, err
	})
	return after, err
}

// Apply implements deploy.Port.
func (p *port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (applied deploy.Applied, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbApply, Ref: deploy.RefOf(obj)}, options.DryRun, func(ctx context.Context) (*unstructured.Unstructured, bool, error) {
		if applied, err = p.Port.Apply(asOperator(ctx), obj, options); applied.Partial {
			return nil, applied.Created, err
		}
		return applied.Object, applied.Created, err
	})
	return applied, err
}

// Patch implements deploy.Port.
func (p *port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (after *unstructured.Unstructured, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbPatch, Ref: ref, Subresource: patch.Subresource}, patch.DryRun, func(ctx context.Context) (*unstructured.Unstructured, bool, error) {
		after, err = p.Port.Patch(asOperator(ctx), ref, patch)
		return after, false, err
	})
	return after, err
}

// Delete implements deploy.Port.
func (p *port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	call := Call{Verb: dryrun.VerbDelete, Ref: ref, Action: deploy.Removed}
	p.harness.gate.pass(ctx, call, "")
	if p.process.Dead() {
		return mortal.ErrKilled
	}
	var plan requestPlan
	if !options.DryRun {
		plan = p.harness.request()
	}
	err := p.harness.faults.meetRemoval(ref)
	if err == nil {
		err = p.send(ctx, options.DryRun, func(ctx context.Context) error {
			return plan.send(call, func() error { return p.Port.Delete(asOperator(ctx), ref, options) })
		})
	}
	if call.Err = err; err != nil {
		call.Action = deploy.Failed
	} else {
		p.harness.stalls.wrote(ctx, ref, p.view)
	}
	if !options.DryRun {
		p.harness.note(ctx, call)
	}
	return err
}

// note records a call.
func (h *Harness) note(ctx context.Context, call Call) {
	call.At, call.beside = h.clock.now(), ctx.Value(besideKey{}) != nil
	h.mu.Lock()
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	h.observe(call)
}
