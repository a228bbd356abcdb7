package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// release removes the reference to the parent from objects that were adopted and aren't selected any more. An object
// that was applied since is a child like others, whatever its labels, and a wanted one is about to be applied. What
// others have given to the parent stays with it.
func (p *pass) release(ctx context.Context, wanted []answer.Child) (released bool, err error) {
	var errs []error
	for _, obj := range p.strangers {
		ref := deploy.RefOf(obj)
		isWanted := slices.ContainsFunc(wanted, func(child answer.Child) bool { return child.Ref == ref })
		if isWanted || p.seen.Children.At(ref) != nil || obj.GetDeletionTimestamp() != nil || !p.hasAdopted(obj) {
			continue
		}
		result, err := p.manager.RemoveOwner(ctx, obj)
		p.noteAs(EventReleased, result)
		released = released || result.Changed()
		if err != nil {
			errs = append(errs, fmt.Errorf("release %s: %w", ref, err))
		}
	}
	return released, errors.Join(errs...)
}

// hasAdopted reports whether this operator has written the reference of an object to the parent.
func (p *pass) hasAdopted(obj *unstructured.Unstructured) bool {
	reference, err := json.Marshal(map[string]types.UID{"uid": p.seen.Parent.GetUID()})
	if err != nil || !metav1.IsControlledBy(obj, p.seen.Parent) {
		return false
	}
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager != p.Manager.FieldManager() || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				References map[string]any `json:"f:ownerReferences"`
			} `json:"f:metadata"`
		}
		err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields)
		if _, has := fields.Metadata.References["k:"+string(reference)]; has && err == nil {
			return true
		}
	}
	return false
}
