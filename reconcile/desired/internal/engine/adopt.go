package engine

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/selector"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// adopt makes the orphans that the Syncer selects children of the parent, and follows those to come. A parent that is
// being deleted adopts nothing.
func (p *pass) adopt(ctx context.Context) error {
	if p.Adopts == nil || p.isDeleting {
		return nil
	}
	wanted, err := p.Adopts(p.seen.Parent)
	if err != nil {
		return fmt.Errorf("adopts: %w", err)
	}
	selected, err := selector.Of(wanted, nil)
	if err != nil {
		return request.Permanent(fmt.Errorf("adopts: %w", err))
	}
	var orphans []*unstructured.Unstructured
	for _, kind := range p.kinds {
		err := p.env.Watcher.FollowAll(ctx, p.key, kind, p.key.Namespace, selected)
		if failure.Is[*deploy.KindUnknownError](err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("orphans of %s: %w", kind.Kind, err)
		}
		found, err := p.Manager.View().List(ctx, kind, p.key.Namespace, selected)
		if err != nil {
			return fmt.Errorf("orphans of %s: %w", kind.Kind, err)
		}
		for _, obj := range found {
			if len(obj.GetOwnerReferences()) == 0 && obj.GetDeletionTimestamp() == nil {
				orphans = append(orphans, nameOf(obj))
			}
		}
	}
	if len(orphans) == 0 {
		return nil
	}
	// Only the reference to the owner is applied, with a strategy that changes existing objects.
	manager, err := p.env.Manager.With(deploy.OwnedBy(p.seen.Parent), deploy.AsController(), deploy.Adopt(deploy.AdoptUnowned), deploy.RetryFor(0))
	if err != nil {
		return err
	}
	results, err := manager.Apply(ctx, orphans)
	for _, result := range results {
		if result.Changed() {
			p.log.Info("adopted", "child", result.Ref)
		}
	}
	return err
}

// nameOf returns an object that has nothing but its kind and names.
func nameOf(obj *unstructured.Unstructured) *unstructured.Unstructured {
	bare := &unstructured.Unstructured{Object: map[string]any{}}
	bare.SetGroupVersionKind(obj.GroupVersionKind())
	bare.SetNamespace(obj.GetNamespace())
	bare.SetName(obj.GetName())
	return bare
}
