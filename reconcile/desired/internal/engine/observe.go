package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

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
		p.seen.Related, err = p.relatives(ctx)
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
	for _, kind := range append([]schema.GroupVersionKind{p.Kind}, p.kinds...) {
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

// relatives follows and reads the related objects.
func (p *pass) relatives(ctx context.Context) (found objects.Set, err error) {
	if p.Related == nil {
		return found, nil
	}
	selections, err := p.Related(ctx, p.seen.Parent)
	if err != nil {
		return found, fmt.Errorf("related: %w", err)
	}
	var all []*unstructured.Unstructured
	for i, selection := range selections {
		some, err := p.selected(ctx, selection)
		if err != nil {
			return found, fmt.Errorf("related[%d]: %w", i, err)
		}
		all = append(all, some...)
	}
	return objects.Collect(all...), nil
}

// selected follows and reads the objects of a Selection.
func (p *pass) selected(ctx context.Context, s Selection) (all []*unstructured.Unstructured, err error) {
	if s.Kind.Kind == "" || s.Kind.Version == "" {
		return nil, p.mistake(fmt.Errorf("kind %q: needs a version and a kind", s.Kind))
	}
	namespaced, err := p.scopes.isNamespaced(ctx, p.env.Manager.Port(), s.Kind)
	if failure.Is[*deploy.KindUnknownError](err) {
		p.recheckIn(recheck)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	namespace := cmp.Or(s.Namespace, p.key.Namespace)
	if !namespaced || s.Namespace == "" && s.Everywhere {
		namespace = ""
	}
	view := p.env.Manager.View()
	switch {
	case len(s.Names) == 0 && s.Labels == nil:
		return nil, nil
	case len(s.Names) == 0:
		if err := p.env.Watcher.FollowAll(ctx, p.key, s.Kind, namespace, s.Labels); err != nil {
			return nil, err
		}
		return view.List(ctx, s.Kind, namespace, s.Labels)
	case namespaced && namespace == "":
		return nil, p.mistake(fmt.Errorf("%s: names without a namespace: set Namespace, or select by Labels", s.Kind.Kind))
	}
	return p.named(ctx, s, namespace)
}

// named follows and reads the objects of a Selection by names.
func (p *pass) named(ctx context.Context, s Selection, namespace string) (all []*unstructured.Unstructured, err error) {
	for _, name := range s.Names {
		ref := deploy.Ref{Kind: s.Kind, Namespace: namespace, Name: name}
		if err := p.env.Watcher.Follow(ctx, p.key, ref); err != nil {
			return nil, err
		}
		obj, err := p.env.Manager.View().Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		if obj != nil {
			all = append(all, obj)
		}
	}
	return all, nil
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

// scopes remembers which kinds are namespaced. The zero value is empty. It is safe for concurrent use.
type scopes struct{ known sync.Map }

// of returns the scope of a kind, Namespaced if it isn't known.
func (s *scopes) of(kind schema.GroupVersionKind) deploy.Scope {
	if known, ok := s.known.Load(kind); ok && !known.(bool) {
		return deploy.ClusterScoped
	}
	return deploy.Namespaced
}

func (s *scopes) isNamespaced(ctx context.Context, port deploy.Port, kind schema.GroupVersionKind) (bool, error) {
	if known, ok := s.known.Load(kind); ok {
		return known.(bool), nil
	}
	scope, err := port.Scope(ctx, kind)
	if err == nil {
		s.known.Store(kind, scope == deploy.Namespaced)
	}
	return scope == deploy.Namespaced, err
}
