package dryrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// Patch implements deploy.Port, for JSON patches (RFC 6902) and JSON merge patches (RFC
// 7386), of an object or of its status.
func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	if patch.Type == types.ApplyPatchType {
		return nil, fmt.Errorf("%s: an apply patch goes through Apply", ref)
	}
	if err := p.sendable(ref); err != nil {
		return nil, err
	}
	call := Call{Verb: VerbPatch, Ref: ref, Subresource: patch.Subresource, FieldManager: patch.FieldManager, DryRun: patch.DryRun, Body: patch.Body}
	return request(ctx, p.Cluster, call, nil, func() (*unstructured.Unstructured, error) { return p.patch(ref, patch) })
}

func (p port) patch(ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, err := p.kinds.of(ref.Kind)
	if err != nil {
		return nil, err
	}
	if patch.Subresource != "" && (patch.Subresource != statusSubresource || !d.status) {
		return nil, &deploy.NotFoundError{Ref: ref, Err: fmt.Errorf("subresource %s: not served for this kind", patch.Subresource)}
	}
	live := p.live(d, addressOf(ref))
	if live == nil {
		return nil, notFound(ref)
	}
	before := shown(live, d)
	next, err := patched(ref, before, patch)
	if err != nil {
		return nil, &deploy.InvalidError{Ref: ref, Err: err}
	}
	// As a server does by default: what isn't known is left out of a patch, not refused.
	d.unknown(next, true)
	return p.replace(d, ref, live, next, patch.FieldManager, patch.Subresource, patch.DryRun)
}

func patched(ref deploy.Ref, before *unstructured.Unstructured, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	var after any
	var err error
	switch patch.Type {
	case types.MergePatchType:
		var changes any
		if err = apijson.Unmarshal(patch.Body, &changes); err == nil {
			after = mergePatch(before.Object, changes)
		}
	case types.JSONPatchType:
		after, err = jsonPatch(before.Object, patch.Body)
	default:
		err = errors.New("not supported in memory")
	}
	if err != nil {
		return nil, fmt.Errorf("patch of type %q: %w", patch.Type, err)
	}
	content, _ := after.(map[string]any)
	next := &unstructured.Unstructured{Object: content}
	if next.GroupVersionKind() != ref.Kind {
		return nil, fmt.Errorf("patch makes it a %q of %q", next.GetKind(), next.GetAPIVersion())
	}
	return next.DeepCopy(), nil
}
