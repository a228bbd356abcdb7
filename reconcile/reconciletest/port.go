package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/mortal"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// observed is the cluster that the reconcilers use: it records calls and injects errors.
type observed struct {
	deploy.Cluster
	*Harness
}

func (o observed) Port() deploy.Port {
	return &port{o.Cluster.Port(), o.Cluster.View(), o.Harness, o.process.Load()}
}
func (o observed) View() deploy.View { return faultyView(o.Cluster.View(), o.faults) }

type port struct {
	deploy.Port
	view    deploy.View
	harness *Harness
	process *mortal.Process
}

// write sends a write, unless an error is injected or the operator is killed, and records the call. after is nil if the
// content after the write isn't known.
func (p *port) write(ctx context.Context, call Call, dryRun bool, send func() (after *unstructured.Unstructured, created bool, err error)) error {
	var before, after *unstructured.Unstructured
	var created bool
	if p.process.Dead() {
		return mortal.ErrKilled
	}
	if call.Verb != dryrun.VerbCreate {
		before, _ = p.view.Get(ctx, call.Ref)
	}
	var fault planned
	if !dryRun {
		fault = p.harness.request()
	}
	err := p.harness.faults.meet(call.Ref)
	if err == nil {
		err = p.send(dryRun, func() error {
			return fault.send(call, func() (err error) {
				after, created, err = send()
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
	if before != nil && after != nil {
		call.Changes = deploy.Changes(before.Object, after.Object)
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
	p.harness.note(call)
	return err
}

// send sends a write, unless the operator is killed. A dry run is no write.
func (p *port) send(dryRun bool, write func() error) error {
	if dryRun {
		return write()
	}
	err := p.process.Send(write)
	if errors.Is(err, mortal.ErrKilled) {
		p.harness.woken()
	}
	return err
}

// Get implements deploy.Port.
func (p *port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	call := Call{Verb: dryrun.VerbGet, Ref: ref}
	fault := p.harness.request()
	err := p.harness.faults.meet(ref)
	var obj *unstructured.Unstructured
	if err == nil {
		err = fault.send(call, func() (err error) {
			obj, err = p.Port.Get(ctx, ref)
			return err
		})
	}
	call.Err = err
	p.harness.note(call)
	return obj, err
}

// List implements deploy.Port.
func (p *port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	call := Call{Verb: dryrun.VerbList, Ref: deploy.Ref{Kind: kind, Namespace: namespace}}
	var objects []*unstructured.Unstructured
	call.Err = p.harness.request().send(call, func() (err error) {
		objects, err = p.Port.List(ctx, kind, namespace, options)
		return err
	})
	p.harness.note(call)
	return objects, call.Err
}

// Create implements deploy.Port.
func (p *port) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (after *unstructured.Unstructured, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbCreate, Ref: deploy.RefOf(obj)}, options.DryRun, func() (*unstructured.Unstructured, bool, error) {
		after, err = p.Port.Create(asOperator(ctx), obj, options)
		return after, true, err
	})
	return after, err
}

// Update implements deploy.Port.
func (p *port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (after *unstructured.Unstructured, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbUpdate, Ref: deploy.RefOf(obj)}, options.DryRun, func() (*unstructured.Unstructured, bool, error) {
		after, err = p.Port.Update(asOperator(ctx), obj, options)
		return after, false, err
	})
	return after, err
}

// Apply implements deploy.Port.
func (p *port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (applied deploy.Applied, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbApply, Ref: deploy.RefOf(obj)}, options.DryRun, func() (*unstructured.Unstructured, bool, error) {
		if applied, err = p.Port.Apply(asOperator(ctx), obj, options); applied.Partial {
			return nil, applied.Created, err
		}
		return applied.Object, applied.Created, err
	})
	return applied, err
}

// Patch implements deploy.Port.
func (p *port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (after *unstructured.Unstructured, err error) {
	err = p.write(ctx, Call{Verb: dryrun.VerbPatch, Ref: ref, Subresource: patch.Subresource}, patch.DryRun, func() (*unstructured.Unstructured, bool, error) {
		after, err = p.Port.Patch(asOperator(ctx), ref, patch)
		return after, false, err
	})
	return after, err
}

// Delete implements deploy.Port.
func (p *port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if p.process.Dead() {
		return mortal.ErrKilled
	}
	call := Call{Verb: dryrun.VerbDelete, Ref: ref, Action: deploy.Removed}
	var fault planned
	if !options.DryRun {
		fault = p.harness.request()
	}
	err := p.harness.faults.meetRemoval(ref)
	if err == nil {
		err = p.send(options.DryRun, func() error {
			return fault.send(call, func() error { return p.Port.Delete(asOperator(ctx), ref, options) })
		})
	}
	if call.Err = err; err != nil {
		call.Action = deploy.Failed
	}
	if !options.DryRun {
		p.harness.note(call)
	}
	return err
}

// note records a call.
func (h *Harness) note(call Call) {
	call.At = h.clock.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, call)
}

// faultyView returns view with errors injected. It keeps the optional interfaces of view.
func faultyView(view deploy.View, f *faults) deploy.View {
	base := faulty{view, f}
	owned, isOwned := view.(deploy.OwnedView)
	partial, isPartial := view.(deploy.PartialView)
	switch {
	case isOwned && isPartial:
		return struct {
			faulty
			ownedPart
			partialPart
		}{base, ownedPart{owned}, partialPart{partial, f}}
	case isOwned:
		return struct {
			faulty
			ownedPart
		}{base, ownedPart{owned}}
	case isPartial:
		return struct {
			faulty
			partialPart
		}{base, partialPart{partial, f}}
	}
	return base
}

type faulty struct {
	deploy.View
	faults *faults
}

// Get implements deploy.View.
func (v faulty) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := v.faults.meet(ref); err != nil {
		return nil, err
	}
	return v.View.Get(ctx, ref)
}

type ownedPart struct{ owned deploy.OwnedView }

// Owned implements deploy.OwnedView.
func (v ownedPart) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	return v.owned.Owned(ctx, kind, namespace, owner)
}

type partialPart struct {
	partial deploy.PartialView
	hidden  *faults
}

// Partial implements deploy.PartialView.
func (v partialPart) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	if err := v.hidden.meet(ref); err != nil {
		return nil, false, err
	}
	return v.partial.Partial(ctx, ref)
}

// Served implements deploy.KindView.
func (v faulty) Served(ctx context.Context, kind schema.GroupVersionKind) error {
	view, err := v.kinds()
	if err != nil {
		return err
	}
	return view.Served(ctx, kind)
}

// Kinds implements deploy.KindView.
func (v faulty) Kinds(ctx context.Context) ([]deploy.ServedKind, error) {
	view, err := v.kinds()
	if err != nil {
		return nil, err
	}
	return view.Kinds(ctx)
}

// WatchKinds implements deploy.KindView. It returns at once if the wrapped View isn't a KindView.
func (v faulty) WatchKinds(ctx context.Context, handle func(kinds []deploy.ServedKind)) {
	if view, err := v.kinds(); err == nil {
		view.WatchKinds(ctx, handle)
	}
}

// kinds returns the wrapped View as a KindView, if it is one.
func (v faulty) kinds() (deploy.KindView, error) {
	view, ok := v.View.(deploy.KindView)
	if !ok {
		return nil, fmt.Errorf("reconciletest: a %T doesn't know which kinds are served: use a deploy.KindView", v.View)
	}
	return view, nil
}

// Holds implements the optional method of a View. It returns false if the wrapped View doesn't have the method.
func (v faulty) Holds(kind schema.GroupVersionKind, namespace string) bool {
	view, ok := v.View.(interface {
		Holds(kind schema.GroupVersionKind, namespace string) bool
	})
	return ok && view.Holds(kind, namespace)
}

// alike is a cluster that accepts any kind. A kind is cluster-scoped in it if it is cluster-scoped in the cluster
// model.
type alike struct {
	deploy.Cluster
	model deploy.Port
}

// Port implements deploy.Cluster.
func (a alike) Port() deploy.Port { return alikePort{a.Cluster.Port(), a.model} }

type alikePort struct {
	deploy.Port
	model deploy.Port
}

// Scope implements deploy.Port. It is called before the first object of a kind is sent.
func (p alikePort) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	scope, err := p.Port.Scope(ctx, kind)
	if err != nil || scope == deploy.ClusterScoped {
		return scope, err
	}
	wanted, err := p.model.Scope(ctx, kind)
	if failure.Is[*deploy.KindUnknownError](err) {
		return scope, nil
	}
	if err != nil || wanted == scope {
		return wanted, err
	}
	_, err = p.Create(ctx, definitionOf(kind), deploy.CreateOptions{FieldManager: FieldManager})
	if err != nil && !failure.Is[*deploy.AlreadyExistsError](err) {
		return "", err
	}
	return wanted, nil
}

// definitionOf returns a minimal CustomResourceDefinition for a cluster-scoped kind.
func definitionOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	plural := strings.ToLower(kind.Kind) + "s"
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"spec": map[string]any{
			"group": kind.Group, "scope": "Cluster", "names": map[string]any{"kind": kind.Kind, "plural": plural},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	obj.SetName(plural + "." + kind.Group)
	return obj
}
