package child

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// port is the manager's port, without its writes.
type port struct{ *store }

func refused(verb string, ref deploy.Ref) error {
	return fmt.Errorf("%s: can't be %s: a version that runs as a child renders only, and its manager writes: let a component have the object", ref, verb)
}

// Scope implements deploy.Port.
func (p port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	var scope string
	err := p.peer.Call(ctx, wire.Scope, wire.NewKind(kind), &scope)
	return deploy.Scope(scope), err
}

// Get implements deploy.Port.
func (p port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return one(p.read(ctx, wire.Get, wire.Read{Ref: *wire.NewRef(ref), Live: true}))
}

// List implements deploy.Port.
func (p port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, o deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	return p.read(ctx, wire.List, wire.Read{
		Ref: *wire.NewRef(deploy.Ref{Kind: kind, Namespace: namespace}), Live: true, Labels: textOf(o.Labels, o.Labels == nil), Fields: textOf(o.Fields, o.Fields == nil),
	})
}

// Kinds implements deploy.Port.
func (p port) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	var found []wire.Kind
	err := p.peer.Call(ctx, wire.Kinds, name, &found)
	kinds := make([]schema.GroupVersionKind, len(found))
	for i, kind := range found {
		kinds[i] = kind.GVK()
	}
	return kinds, err
}

// Create implements deploy.Port.
func (p port) Create(_ context.Context, obj *unstructured.Unstructured, _ deploy.CreateOptions) (*unstructured.Unstructured, error) {
	return nil, refused("created", deploy.RefOf(obj))
}

// Update implements deploy.Port.
func (p port) Update(_ context.Context, obj *unstructured.Unstructured, _ deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	return nil, refused("updated", deploy.RefOf(obj))
}

// Apply implements deploy.Port.
func (p port) Apply(_ context.Context, obj *unstructured.Unstructured, _ deploy.ApplyOptions) (deploy.Applied, error) {
	return deploy.Applied{}, refused("applied", deploy.RefOf(obj))
}

// Patch implements deploy.Port.
func (p port) Patch(_ context.Context, ref deploy.Ref, _ deploy.Patch) (*unstructured.Unstructured, error) {
	return nil, refused("patched", ref)
}

// Delete implements deploy.Port: the manager deletes what the resource of the session owns.
func (p port) Delete(ctx context.Context, ref deploy.Ref, o deploy.DeleteOptions) error {
	if o.DryRun {
		return nil
	}
	return p.peer.Call(ctx, wire.Delete, wire.Read{
		Session: sessionOf(ctx), Ref: *wire.NewRef(ref), UID: string(o.UID), Propagation: string(o.Propagation),
	}, nil)
}
