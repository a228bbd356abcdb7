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

// port sends the requests of a Cluster and tells its store what they changed.
type port struct{ *Cluster }

// Scope implements deploy.Port.
func (p port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	found, err := p.resources.of(ctx, kind)
	return found.scope, err
}

// Get implements deploy.Port.
func (p port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	found, err := p.resources.of(ctx, ref.Kind)
	if err != nil {
		return nil, err
	}
	return p.requests.get(ctx, found, ref)
}

// Apply implements deploy.Port.
func (p port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	ref := deploy.RefOf(obj)
	body, err := obj.MarshalJSON()
	if err != nil {
		return deploy.Applied{}, &deploy.InvalidManifestError{Ref: ref, Reason: err.Error()}
	}
	patch := deploy.Patch{Type: types.ApplyPatchType, Body: body, FieldManager: options.FieldManager, DryRun: options.DryRun}
	answer, code, err := p.patch(ctx, ref, patch, options.Force)
	if err != nil {
		return deploy.Applied{}, err
	}
	return deploy.Applied{Object: answer, Created: code == http.StatusCreated}, nil
}

// Patch implements deploy.Port.
func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.Patch) (*unstructured.Unstructured, error) {
	if patch.Type == types.ApplyPatchType {
		return nil, fmt.Errorf("%s: an apply patch goes through Apply", ref)
	}
	answer, _, err := p.patch(ctx, ref, patch, false)
	return answer, err
}

func (p port) patch(ctx context.Context, ref deploy.Ref, patch deploy.Patch, force bool) (obj *unstructured.Unstructured, code int, err error) {
	found, err := p.resources.of(ctx, ref.Kind)
	if err != nil {
		return nil, 0, err
	}
	send := func() (*unstructured.Unstructured, error) {
		obj, code, err = p.requests.patch(ctx, found, ref, patch, force)
		return obj, err
	}
	if patch.DryRun {
		_, err = send()
		return obj, code, err
	}
	obj, err = p.store.record(ref, send)
	return obj, code, err
}

// Delete implements deploy.Port.
func (p port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	found, err := p.resources.of(ctx, ref.Kind)
	if err != nil {
		return err
	}
	send := func() (*unstructured.Unstructured, error) { return p.requests.delete(ctx, found, ref, options) }
	if options.DryRun {
		_, err = send()
		return err
	}
	return p.store.recordDelete(ref, options.UID, send)
}
