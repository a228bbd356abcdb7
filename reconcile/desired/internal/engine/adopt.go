package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/selector"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// selectOrphans asks the Syncer which orphans become children.
func (p *pass) selectOrphans(ctx context.Context) error {
	if p.Adopts == nil {
		return nil
	}
	wanted, err := p.Adopts(ctx, p.seen.Parent)
	if err != nil {
		return fmt.Errorf("adopts: %w", err)
	}
	if p.orphans, err = selector.Of(wanted, nil); err != nil {
		return p.mistake(fmt.Errorf("adopts: %w", err))
	}
	return nil
}

// claim adopts the selected orphans, and releases children that it has adopted and that aren't selected any more.
func (p *pass) claim(ctx context.Context, wanted []answer.Child) (changed bool, err error) {
	if p.Adopts == nil || p.isFinalizing {
		return false, nil
	}
	adopted, unadopted := p.adopt(ctx)
	released, unreleased := p.release(ctx, wanted)
	return adopted || released, errors.Join(unadopted, unreleased)
}

// adopt makes the selected orphans children of the parent, and follows those to come. Only their owner is written. An
// orphan that can't be adopted doesn't keep others from being adopted.
func (p *pass) adopt(ctx context.Context) (adopted bool, err error) {
	var errs []error
	for _, kind := range p.kinds {
		orphans, err := p.orphansOf(ctx, kind)
		if err != nil {
			errs = append(errs, fmt.Errorf("orphans of %s: %w", kind.Kind, err))
		}
		for _, orphan := range orphans {
			result, err := p.manager.AddOwner(ctx, orphan, deploy.Adopt(deploy.AdoptUnowned))
			p.noteAs(EventAdopted, result)
			adopted = adopted || result.Changed()
			if err != nil {
				errs = append(errs, fmt.Errorf("adopt %s: %w", deploy.RefOf(orphan), err))
			}
		}
	}
	return adopted, errors.Join(errs...)
}

// orphansOf follows and lists the selected orphans of a kind. A cluster-scoped parent has only cluster-scoped orphans:
// its selector would select those of all namespaces.
func (p *pass) orphansOf(ctx context.Context, kind schema.GroupVersionKind) (orphans []*unstructured.Unstructured, err error) {
	namespaced, err := p.scopes.isNamespaced(ctx, p.env.Manager.Port(), kind)
	if failure.Is[*deploy.KindUnknownError](err) || err == nil && namespaced != (p.key.Namespace != "") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.env.Watcher.FollowAll(ctx, p.key, kind, p.key.Namespace, p.orphans); err != nil {
		return nil, err
	}
	found, err := p.Manager.View().List(ctx, kind, p.key.Namespace, p.orphans)
	for _, obj := range found {
		if len(obj.GetOwnerReferences()) == 0 && obj.GetDeletionTimestamp() == nil {
			orphans = append(orphans, obj)
		}
	}
	return orphans, err
}
