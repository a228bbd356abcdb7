package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/objects"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// relatives follows and reads the related objects of a parent.
func (p *pass) relatives(ctx context.Context, parent *unstructured.Unstructured) (found objects.Set, err error) {
	if p.Related == nil {
		return found, nil
	}
	selections, err := p.Related(ctx, parent)
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
	switch {
	case s.Kind.Kind == "" || s.Kind.Version == "":
		return nil, p.mistake(fmt.Errorf("kind %q: needs a version and a kind", s.Kind))
	case s.Namespaces != nil && (s.Namespace != "" || s.Everywhere):
		return nil, p.mistake(fmt.Errorf("%s: has Namespaces and another namespace: set one of them", s.Kind.Kind))
	case len(s.Names) == 0 && s.Labels == nil:
		return nil, nil
	}
	namespaced, err := p.scopes.isNamespaced(ctx, p.env.Manager.Port(), s.Kind)
	if failure.Is[*deploy.KindUnknownError](err) {
		p.recheckIn(recheck)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	namespaces, err := p.namespacesOf(ctx, s, namespaced)
	if err != nil {
		return nil, err
	}
	for _, namespace := range namespaces {
		read := p.matching
		if len(s.Names) > 0 && (namespace != "" || !namespaced) {
			read = p.named
		}
		some, err := read(ctx, s, namespace)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// namespacesOf returns the namespaces in which a Selection selects objects of a kind; "" is all, or none for a kind
// without namespaces.
func (p *pass) namespacesOf(ctx context.Context, s Selection, namespaced bool) (names []string, err error) {
	switch {
	case !namespaced || s.Namespace == "" && s.Everywhere:
		return []string{""}, nil
	case s.Namespaces == nil:
		return []string{cmp.Or(s.Namespace, p.key.Namespace)}, nil
	}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	if err := p.env.Watcher.FollowAll(ctx, p.key, kind, "", s.Namespaces); err != nil {
		return nil, err
	}
	found, err := p.env.Manager.View().List(ctx, kind, "", s.Namespaces)
	for _, one := range found {
		names = append(names, one.GetName())
	}
	return names, err
}

// matching follows and reads the objects of a Selection by labels in a namespace, and by names in all namespaces.
func (p *pass) matching(ctx context.Context, s Selection, namespace string) (all []*unstructured.Unstructured, err error) {
	selector := s.Labels
	if len(s.Names) > 0 {
		selector = labels.Everything()
	}
	if err := p.env.Watcher.FollowAll(ctx, p.key, s.Kind, namespace, selector); err != nil {
		return nil, err
	}
	found, err := p.env.Manager.View().List(ctx, s.Kind, namespace, selector)
	for _, obj := range found {
		if len(s.Names) == 0 || slices.Contains(s.Names, obj.GetName()) {
			all = append(all, obj)
		}
	}
	return all, err
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
