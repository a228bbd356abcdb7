package cluster

import (
	"context"
	"fmt"
	"net/http"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// port sends the requests of a Cluster. It records the results of writes in the store.
type port struct{ *Cluster }

// Scope implements deploy.Port.
func (p port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	found, err := p.resources.of(ctx, kind)
	return found.scope, err
}

// Get implements deploy.Port.
func (p port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return p.store.live(ctx, ref)
}

// List implements deploy.Port. It sends one request per 500 objects.
func (p port) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	ref := deploy.Ref{Kind: kind, Namespace: namespace}
	return on(ctx, p.resources, kind, func(at resource) ([]*unstructured.Unstructured, error) {
		return p.requests.list(ctx, at, ref, options)
	})
}

// Apply implements deploy.Port.
func (p port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	ref, body, err := manifest(obj)
	if err == nil {
		err = p.creatable(ref, obj, options)
	}
	if err != nil {
		return deploy.Applied{}, err
	}
	patch := deploy.PatchRequest{
		Type: types.ApplyPatchType, Body: body, Subresource: options.Subresource, FieldManager: options.FieldManager, DryRun: options.DryRun,
	}
	partial := p.store.metadataOnly[ref.Kind.GroupKind()] && !options.DryRun && !options.Whole && options.Subresource == ""
	got, err := p.write(ctx, ref, options.DryRun, func(at resource) (answer, error) {
		return p.requests.apply(ctx, at, ref, patch, options.Force, partial)
	})
	if err != nil {
		return deploy.Applied{}, err
	}
	return deploy.Applied{Object: got.object, Partial: partial, Created: got.code == http.StatusCreated, Warnings: got.warnings}, nil
}

// Create implements deploy.Port.
func (p port) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	ref, body, err := manifest(obj)
	if err == nil {
		err = p.store.selected[ref.Kind.GroupKind()].Creatable(ref, obj)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case ref.Name == "" && obj.GetGenerateName() == "":
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.name and metadata.generateName are missing"}
	case obj.GetResourceVersion() != "": // a server responds with 500, as if a retry could help
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.resourceVersion is set: remove it from an object that was read from a cluster"}
	}
	got, err := p.write(ctx, ref, options.DryRun, func(at resource) (answer, error) {
		return p.requests.create(ctx, at, ref, body, options)
	})
	p.warnings.log(ref, got.warnings)
	return got.object, err
}

// Update implements deploy.Port.
func (p port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	ref, body, err := manifest(obj)
	if err != nil {
		return nil, err
	}
	if obj.GetResourceVersion() == "" {
		return nil, &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.resourceVersion is missing: read the object before it is replaced"}
	}
	got, err := p.write(ctx, ref, options.DryRun, func(at resource) (answer, error) {
		return p.requests.update(ctx, at, ref, body, options)
	})
	p.warnings.log(ref, got.warnings)
	return got.object, err
}

// Patch implements deploy.Port.
func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	if patch.Type == types.ApplyPatchType {
		return nil, fmt.Errorf("%s: an apply patch can't be sent by Patch: use Apply", ref)
	}
	got, err := p.write(ctx, ref, patch.DryRun, func(at resource) (answer, error) {
		return p.requests.patch(ctx, at, ref, patch)
	})
	p.warnings.log(ref, got.warnings)
	return got.object, err
}

// Delete implements deploy.Port.
func (p port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if ref.Name == "" {
		return &deploy.InvalidManifestError{Ref: ref, Reason: "metadata.name is missing"} // the path would be the path of the collection
	}
	send := func() (answer, error) {
		return on(ctx, p.resources, ref.Kind, func(at resource) (answer, error) { return p.requests.delete(ctx, at, ref, options) })
	}
	if options.DryRun {
		_, err := send()
		return err
	}
	err := p.store.recordDelete(ref, options.UID, send)
	p.redefined(ref, err)
	return err
}

// write sends a request that writes ref, and records its response in the store.
func (p port) write(ctx context.Context, ref deploy.Ref, dryRun bool, request func(at resource) (answer, error)) (answer, error) {
	send := func() (answer, error) { return on(ctx, p.resources, ref.Kind, request) }
	if dryRun {
		return send()
	}
	got, err := p.store.record(ref, send)
	p.redefined(ref, err)
	return got, err
}

// redefined invalidates the discovery cache after a write of a CustomResourceDefinition, so that its kind is found as
// soon as it is served.
func (p port) redefined(ref deploy.Ref, err error) {
	if err == nil && ref.Kind.Group == "apiextensions.k8s.io" {
		p.resources.forget()
	}
}

// creatable returns an error if an apply of obj could create an object that the View doesn't show.
func (p port) creatable(ref deploy.Ref, obj *unstructured.Unstructured, options deploy.ApplyOptions) error {
	if options.Subresource != "" {
		return nil
	}
	return p.store.selected[ref.Kind.GroupKind()].Creatable(ref, obj)
}

// manifest returns the Ref and the JSON of obj.
func manifest(obj *unstructured.Unstructured) (deploy.Ref, []byte, error) {
	ref := deploy.RefOf(obj)
	body, err := obj.MarshalJSON()
	if err != nil {
		return ref, nil, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	return ref, body, nil
}
