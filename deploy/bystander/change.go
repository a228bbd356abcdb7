package bystander

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Merge edits an object by a JSON merge patch, such as {"spec":{"replicas":3}}; null takes a field away. An absent object fails the test.
func (b *Bystander) Merge(kind schema.GroupVersionKind, name, patch string) {
	b.t.Helper()
	b.MergeSubresource(kind, name, "", patch)
}

// MergeSubresource edits a subresource of an object, such as its status or its scale, as Merge does all that isn't one.
func (b *Bystander) MergeSubresource(kind schema.GroupVersionKind, name, subresource, patch string) {
	b.t.Helper()
	ctx, cancel := b.request()
	defer cancel()
	ref := b.ref(ctx, kind, name)
	_, err := b.port.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(patch), Subresource: subresource, FieldManager: b.name})
	b.failed("merge into", ref, err)
}

// Delete asks for the deletion of an object, and doesn't wait until it is gone. An absent one is fine.
func (b *Bystander) Delete(kind schema.GroupVersionKind, name string) {
	b.t.Helper()
	ctx, cancel := b.request()
	defer cancel()
	ref := b.ref(ctx, kind, name)
	if err := b.port.Delete(ctx, ref, deploy.DeleteOptions{}); !isAbsent(err) {
		b.failed("delete", ref, err)
	}
}
