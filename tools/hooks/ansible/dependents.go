package ansible

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/tools/hooks/internal/proxy"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Sources implements source.Provider: a resource is run again when it changes, and when an object that a run has made
// changes. A change of a status alone doesn't count.
func (r *reconciler) Sources() source.Sources {
	changes := []filter.Predicate{filter.Generation(), filter.And(filter.WithoutGeneration(), filter.Content())}
	own := slices.Concat(changes, []filter.Predicate{filter.Lifecycle(), filter.LabelsChanged()})
	if r.entry.WatchAnnotationsChanges {
		own = append(own, filter.Annotations())
	}
	for _, annotation := range watches.Annotations() {
		own = append(own, filter.Field("metadata", "annotations", annotation))
	}
	s := source.Sources{When: filter.UnlessPaused(r.env.Manager.KeyDomain(), filter.Or(own...))}
	isGone := func(event deploy.Event) bool { return event.Type == deploy.Deleted }
	of := filter.And(r.counts, filter.Or(slices.Concat(changes, []filter.Predicate{filter.LabelsChanged(), filter.Annotations(), isGone})...))
	for _, kind := range r.dependents() {
		s.Owned = append(s.Owned, source.Owned{Kind: kind, When: of})
		s.Mapped = append(s.Mapped, source.Mapped{Kind: kind, When: of, Keys: r.ownerOf})
	}
	return s
}

// dependents returns the kinds whose objects bring their owners, each in one version.
func (r *reconciler) dependents() (all []schema.GroupVersionKind) {
	if !r.entry.WatchDependentResources {
		return nil
	}
	for _, kind := range r.entry.Manages {
		isSame := func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind.GroupKind() }
		if !slices.ContainsFunc(r.entry.Blacklist, isSame) && !slices.ContainsFunc(all, isSame) {
			all = append(all, kind)
		}
	}
	return all
}

// counts reports whether events of an object count: one without a namespace only if the entry says so.
func (r *reconciler) counts(event deploy.Event) bool {
	obj := event.New
	if obj == nil {
		obj = event.Old
	}
	return obj != nil && (r.entry.WatchClusterScopedResources || obj.GetNamespace() != "")
}

// ownerOf returns the resource of an object that can't refer to it, and has annotations in the place of a reference.
func (r *reconciler) ownerOf(event deploy.Event) []deploy.Ref {
	obj := event.New
	if obj == nil {
		obj = event.Old
	}
	annotations := obj.GetAnnotations()
	if annotations[proxy.OwnerKind] != r.entry.Kind.GroupKind().String() {
		return nil
	}
	namespace, name, isNamespaced := strings.Cut(annotations[proxy.OwnerName], "/")
	if !isNamespaced {
		namespace, name = "", namespace
	}
	if isNamespaced && len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil // somebody else has written it
	}
	return []deploy.Ref{{Kind: r.entry.Kind, Namespace: namespace, Name: name}}
}

// Rights implements watch.RightsProvider. What runs do, their ServiceAccounts have to be allowed.
func (r *reconciler) Rights() []deploy.Right {
	reads := []string{"get", "list", "watch"}
	rights := []deploy.Right{{Kind: r.entry.Kind, Verbs: append(slices.Clone(reads), "patch")}}
	if r.entry.ManageStatus {
		rights = append(rights, deploy.Right{Kind: r.entry.Kind, Subresource: "status", Verbs: []string{"patch"}})
	}
	if r.entry.ServiceAccount != nil {
		account := schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
		rights = append(rights, deploy.Right{
			Kind: account, Namespace: r.entry.ServiceAccount.Namespace, Names: []string{r.entry.ServiceAccount.Name}, Verbs: []string{"impersonate"},
		})
	}
	for _, kind := range r.dependents() {
		rights = append(rights, deploy.Right{Kind: kind, Verbs: slices.Clone(reads)})
	}
	return rights
}
