package dryrun

import (
	"cmp"
	"context"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

var _ deploy.KindView = view{}

// allVerbs are what can be done with the objects of every kind.
var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// Served implements deploy.KindView.
func (v view) Served(ctx context.Context, kind schema.GroupVersionKind) error {
	return v.lookAtKinds(ctx, func() (done bool) {
		_, err := v.declared(kind)
		return err == nil
	})
}

// WatchKinds implements deploy.KindView. The kinds are the built-in ones, without categories, and those of
// CustomResourceDefinitions. With AnyKind, the kinds of objects that were written are added at the next change.
func (v view) WatchKinds(ctx context.Context, handle func(kinds []deploy.ServedKind)) {
	_ = v.lookAtKinds(ctx, func() (done bool) {
		v.mu.RLock()
		served := v.kinds.served()
		v.mu.RUnlock()
		handle(served)
		return false
	})
}

// lookAtKinds calls look at once and after each change of a CustomResourceDefinition, until look returns true or ctx
// ends. Then it returns the cause.
func (v view) lookAtKinds(ctx context.Context, look func() (done bool)) error {
	life, end := context.WithCancel(ctx)
	defer end()
	changed := make(chan struct{}, 1)
	_, err := v.Subscribe(life, definitionKind.WithVersion("v1"), func(deploy.Event) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	for err == nil && !look() {
		select {
		case <-changed:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	return err
}

// served returns the kinds, sorted by group, kind and preference of their versions.
func (k *kinds) served() (served []deploy.ServedKind) {
	for _, d := range k.all() {
		served = append(served, deploy.ServedKind{
			Kind: d.kind, Resource: d.plural, Names: append([]string{d.singular}, d.short...), Categories: d.categories, Verbs: allVerbs, Scope: d.scope,
		})
	}
	slices.SortFunc(served, func(a, b deploy.ServedKind) int {
		return cmp.Or(cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Kind, b.Kind.Kind),
			version.CompareKubeAwareVersionStrings(b.Kind.Version, a.Kind.Version))
	})
	for i := range served {
		served[i].Preferred = i == 0 || served[i-1].Kind.GroupKind() != served[i].Kind.GroupKind()
	}
	return served
}
