package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/objects"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// observe reads the children and the related objects of the parent.
func (p *pass) observe(ctx context.Context) error {
	if err := p.checkWhole(ctx); err != nil {
		return err
	}
	err := p.selectOrphans(ctx)
	if err == nil {
		err = p.observeChildren(ctx)
	}
	if err == nil {
		err = p.readHistory(ctx)
	}
	if err == nil {
		p.seen.Related, err = p.relatives(ctx, p.seen.Parent)
	}
	return err
}

// observeChildren reads the children: the objects that the parent controls, and that were applied by this operator or
// are selected by the Syncer. What others have made for the parent, such as the ReplicaSets of a Deployment, isn't a
// child.
func (p *pass) observeChildren(ctx context.Context) error {
	children, err := p.manager.Owned(ctx, p.kinds, nil)
	p.strangers = nil
	if err == nil && p.orphans != nil {
		var controlled []*unstructured.Unstructured
		controlled, err = p.manager.Owned(ctx, p.kinds, nil, deploy.ControlledToo())
		for _, obj := range controlled {
			if p.orphans.Matches(labels.Set(obj.GetLabels())) {
				children = append(children, obj)
			} else {
				p.strangers = append(p.strangers, obj)
			}
		}
	}
	if err != nil {
		return err
	}
	children = slices.DeleteFunc(children, func(obj *unstructured.Unstructured) bool { return !metav1.IsControlledBy(obj, p.seen.Parent) })
	if p.orphans == nil {
		p.seen.Children = objects.Grouped(children)
	} else {
		p.seen.Children = objects.Collect(children...)
	}
	return nil
}

// checkWhole returns an error if only the metadata of the objects of a kind is held: a Sync wouldn't see their content.
func (p *pass) checkWhole(ctx context.Context) error {
	view, ok := p.env.Manager.View().(deploy.PartialView)
	if !ok || p.isWhole.Load() {
		return nil
	}
	known := true
	for _, kind := range append([]schema.GroupVersionKind{p.Kind}, p.ownedKinds()...) {
		switch _, whole, err := view.Partial(ctx, deploy.Ref{Kind: kind, Namespace: p.key.Namespace, Name: p.key.Name}); {
		case failure.Is[*deploy.KindUnknownError](err):
			known = false
		case err != nil:
			return err
		case !whole:
			return request.Permanent(fmt.Errorf("children of %s: only the metadata of the objects of %s is held, without their content: leave the kind out of cluster.MetadataOnly", p.Kind.Kind, kind.Kind))
		}
	}
	p.isWhole.Store(known)
	return nil
}

// scopeOf returns which of the declared kinds are namespaced. A kind that isn't served has no scope: applying its
// children is the error.
func (p *pass) scopeOf(ctx context.Context) (map[schema.GroupVersionKind]deploy.Scope, error) {
	all := make(map[schema.GroupVersionKind]deploy.Scope, len(p.kinds))
	for _, kind := range p.kinds {
		namespaced, err := p.scopes.isNamespaced(ctx, p.env.Manager.Port(), kind)
		switch {
		case failure.Is[*deploy.KindUnknownError](err):
		case err != nil:
			return nil, err
		case namespaced:
			all[kind] = deploy.Namespaced
		default:
			all[kind] = deploy.ClusterScoped
		}
	}
	return all, nil
}
