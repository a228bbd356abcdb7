package dryrun

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// declaration is what a cluster knows of one version of a kind. It is never changed.
type declaration struct {
	kind schema.GroupVersionKind
	// plural, singular and short are the names of its resource.
	plural, singular string
	short            []string
	scope            deploy.Scope
	// status tells that its status is a subresource, generation that its objects count theirs.
	status, generation bool
	// strict tells that fields outside of its schema are refused, or left out of a patch.
	strict bool
	// object is how its objects merge.
	object func() (typed.ParseableType, error)
	// content is the schema of a custom resource, nil for all else.
	content *structural
	// selectable are the fields beside metadata that lists can be selected by; anyField: all.
	selectable []string
	anyField   bool
	// unseen tells that nobody declares this version, and no object was given in it.
	unseen bool
	// validName finds what is wrong with the name of an object.
	validName validation.ValidateNameFunc
}

// named tells whether people may call the kind name beside its proper one.
func (d *declaration) named(name string) bool {
	return d.plural == name || d.singular == name || slices.Contains(d.short, name)
}

// selectableBy tells whether lists can be selected by a field.
func (d *declaration) selectableBy(field string) bool {
	return d.anyField || field == "metadata.name" || d.scope == deploy.Namespaced && field == "metadata.namespace" ||
		slices.Contains(d.selectable, field)
}

// pathSegment is the rule for names that need nothing but a place in an address.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// deduced declares a kind of which nothing is known but its scope.
func deduced(kind schema.GroupVersionKind, scope deploy.Scope) *declaration {
	plural, singular := guessNames(kind)
	return &declaration{
		kind: kind, plural: plural, singular: singular, scope: scope,
		status: true, generation: true, object: objectType, anyField: true, validName: pathSegment,
	}
}

// guessNames makes the names of a resource of its kind, as those of Kubernetes are made.
func guessNames(kind schema.GroupVersionKind) (plural, singular string) {
	if kind.Kind == "" {
		return "", ""
	}
	many, one := meta.UnsafeGuessKindToResource(kind)
	return many.Resource, strings.ToLower(one.Resource)
}
