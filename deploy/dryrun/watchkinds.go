package dryrun

import (
	"cmp"
	"context"
	"reflect"
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

// Kinds implements deploy.KindView.
func (v view) Kinds(context.Context) ([]deploy.ServedKind, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.kinds.served(), nil
}

// WatchKinds implements deploy.KindView. The kinds are the built-in ones, without categories, and those of
// CustomResourceDefinitions. With AnyKind, the kinds of objects that were written are added at the next change.
func (v view) WatchKinds(ctx context.Context, handle func(kinds []deploy.ServedKind)) {
	var known []deploy.ServedKind
	_ = v.lookAtKinds(ctx, func() (done bool) {
		if served, _ := v.Kinds(ctx); !reflect.DeepEqual(served, known) {
			known = served
			handle(served)
		}
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
	if err != nil {
		changed = nil // without definitions, the kinds never change
	}
	for !look() {
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
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
