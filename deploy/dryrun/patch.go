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
func (p port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.Patch) (*unstructured.Unstructured, error) {
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	if patch.Type == types.ApplyPatchType {
		return nil, fmt.Errorf("%s: an apply patch goes through Apply", ref)
	}
	if patch.Subresource != "" && patch.Subresource != statusSubresource {
		return nil, &deploy.NotFoundError{Ref: ref, Err: fmt.Errorf("subresource %s: not served in memory", patch.Subresource)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	live := p.storage.get(addressOf(ref))
	if live == nil {
		return nil, notFound(ref)
	}
	before := inVersion(live, ref.Kind.GroupVersion())
	next, err := patched(ref, before, patch)
	if err != nil {
		return nil, &deploy.InvalidError{Ref: ref, Err: err}
	}
	manager, err := p.fields.of(ref.Kind, patch.Subresource)
	if err != nil {
		return nil, err
	}
	managed, err := manager.Update(before.DeepCopy(), next, patch.FieldManager)
	if err != nil {
		return nil, refused(ref, err)
	}
	if next, err = plain(managed); err != nil {
		return nil, err
	}
	stored, err := p.update(ref, live, next, patch.Subresource, patch.DryRun)
	if err != nil {
		return nil, err
	}
	return shown(stored, ref.Kind), nil
}

func patched(ref deploy.Ref, before *unstructured.Unstructured, patch deploy.Patch) (*unstructured.Unstructured, error) {
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
