package dryrun

import (
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// kinds are the kinds that a Cluster serves: built-in kinds, the kinds of its CustomResourceDefinitions and, with
// AnyKind, the kinds of objects that were written. They are guarded by the lock of the Cluster.
type kinds struct {
	builtin *builtins
	// any is set by AnyKind, and schemaless by Schemaless.
	any, schemaless bool
	clusterScoped   []schema.GroupKind
	// custom are the kinds of CustomResourceDefinitions, by group and kind, then by version.
	custom map[schema.GroupKind]map[string]*declaration
	// definedBy are the names of the CustomResourceDefinitions, by the kind that they define.
	definedBy map[schema.GroupKind]string
	// seen are the kinds without a definition of which an object was written.
	seen map[schema.GroupVersionKind]*declaration
	// conversions are those of the option Conversions, and storages the storage versions of CustomResourceDefinitions.
	conversions []Conversion
	storages    map[schema.GroupKind]string
}

func newKinds(o options) (*kinds, error) {
	known, err := builtin()
	if err != nil {
		return nil, err
	}
	return &kinds{
		builtin: known, any: o.anyKind, schemaless: o.schemaless, clusterScoped: slices.Clone(o.clusterScoped),
		custom: map[schema.GroupKind]map[string]*declaration{}, definedBy: map[schema.GroupKind]string{},
		seen: map[schema.GroupVersionKind]*declaration{}, conversions: slices.Clone(o.conversions), storages: map[schema.GroupKind]string{},
	}, nil
}

// of returns the declaration of a kind, or a *deploy.KindUnknownError.
func (k *kinds) of(kind schema.GroupVersionKind) (*declaration, error) {
	if versions, ok := k.custom[kind.GroupKind()]; ok && !k.schemaless {
		if d, ok := versions[kind.Version]; ok {
			return d, nil
		}
		return nil, &deploy.KindUnknownError{Kind: kind}
	}
	if d, ok := k.builtin.kinds[kind]; ok && !k.schemaless {
		return d, nil
	}
	if d, ok := k.seen[kind]; ok {
		return d, nil
	}
	if !k.any {
		return nil, &deploy.KindUnknownError{Kind: kind}
	}
	d := deduced(kind, k.guessScope(kind.GroupKind()))
	if d.conversion = k.converted(kind.GroupKind()); d.conversion == nil {
		d.unseen = true
	} else if !slices.Contains(d.conversion.Versions, kind.Version) {
		return nil, &deploy.KindUnknownError{Kind: kind}
	}
	return d, nil
}

// defined returns the kind that a CustomResourceDefinition declares.
func (k *kinds) defined(name string) (schema.GroupKind, bool) {
	for kind, holder := range k.definedBy {
		if holder == name {
			return kind, true
		}
	}
	return schema.GroupKind{}, false
}

// declared is like of, but takes the lock.
func (c *Cluster) declared(kind schema.GroupVersionKind) (*declaration, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds.of(kind)
}

// live returns the object at an address, nil if there is none or if no objects exist in the version of d. The lock is
// held.
func (c *Cluster) live(d *declaration, at address) *unstructured.Unstructured {
	if d.unseen {
		return nil
	}
	return c.storage.get(at)
}

// shows reports whether objects exist in the version of a declaration. The lock is held.
func (c *Cluster) shows(d *declaration) bool { return !d.unseen || c.kinds.seen[d.kind] != nil }

// see is called when an object is written. If the kind has no definition and this is the first object in its version,
// see records the version, and sends the existing objects of the kind to subscribers of that version. The lock is held.
func (c *Cluster) see(d *declaration) {
	if !d.unseen {
		return
	}
	if _, known := c.kinds.seen[d.kind]; known {
		return
	}
	seen := *d
	seen.unseen = false
	c.kinds.seen[d.kind] = &seen
	for _, obj := range c.storage.ofKind(d.kind.GroupKind(), "") {
		for s := range c.subscriptions {
			if s.declared.kind == d.kind {
				s.push(deploy.Event{Type: deploy.Added, New: obj})
			}
		}
	}
}

func (k *kinds) guessScope(kind schema.GroupKind) deploy.Scope {
	if k.builtin.clusterScoped[kind] || slices.Contains(k.clusterScoped, kind) {
		return deploy.ClusterScoped
	}
	return deploy.Namespaced
}

// called returns the kinds whose Kind is name, ascending, each in its preferred version. If there are none, it returns
// the kinds whose plural, singular or short name is name.
func (k *kinds) called(name string) []schema.GroupVersionKind {
	best := map[schema.GroupKind]*declaration{}
	for _, d := range k.all() {
		kind := d.kind.GroupKind()
		if other, ok := best[kind]; !ok || version.CompareKubeAwareVersionStrings(d.kind.Version, other.kind.Version) > 0 {
			best[kind] = d
		}
	}
	var exact, other []schema.GroupVersionKind
	for _, d := range best {
		switch {
		case d.kind.Kind == name:
			exact = append(exact, d.kind)
		case d.named(name):
			other = append(other, d.kind)
		}
	}
	if len(exact) > 0 {
		other = exact
	}
	slices.SortFunc(other, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return other
}

func (k *kinds) all() []*declaration {
	all := slices.Collect(maps.Values(k.builtin.kinds))
	for _, versions := range k.custom {
		all = slices.AppendSeq(all, maps.Values(versions))
	}
	for _, d := range k.seen {
		if _, declared := k.custom[d.kind.GroupKind()]; !declared {
			all = append(all, d)
		}
	}
	return all
}

// declaration describes one version of a kind. It is immutable.
type declaration struct {
	kind schema.GroupVersionKind
	// plural, singular and short are the names of the kind's resource.
	plural, singular string
	short            []string
	categories       []string
	scope            deploy.Scope
	// status means that the status is a subresource. generation means that objects have a generation.
	status, generation bool
	// strict means that fields that the schema doesn't have are refused. In a patch they are dropped instead.
	strict bool
	// object returns the type by which objects merge.
	object func() (typed.ParseableType, error)
	// content is the schema of a custom resource, nil for other kinds.
	content *structural
	// selectable are the fields by which lists can be selected, in addition to the fields of metadata. anyField means
	// that lists can be selected by all fields.
	selectable []string
	anyField   bool
	// conversion converts the objects of the kind, nil if all versions have the same fields.
	conversion *Conversion
	// unseen means that this version has no definition, and that no object of it was written.
	unseen bool
	// validName validates the name of an object.
	validName validation.ValidateNameFunc
}

// named reports whether name is the plural, singular or a short name of the kind.
func (d *declaration) named(name string) bool {
	return d.plural == name || d.singular == name || slices.Contains(d.short, name)
}

// selectableBy reports whether lists can be selected by a field.
func (d *declaration) selectableBy(field string) bool {
	return d.anyField || field == "metadata.name" || d.scope == deploy.Namespaced && field == "metadata.namespace" ||
		slices.Contains(d.selectable, field)
}

// pathSegment validates names that only have to be a segment of a path.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// deduced returns the declaration of a kind without a definition.
func deduced(kind schema.GroupVersionKind, scope deploy.Scope) *declaration {
	plural, singular := guessNames(kind)
	return &declaration{
		kind: kind, plural: plural, singular: singular, scope: scope,
		status: true, generation: true, object: objectType, anyField: true, validName: pathSegment,
	}
}

// guessNames derives the names of a resource from its kind, by the rules that built-in kinds follow.
func guessNames(kind schema.GroupVersionKind) (plural, singular string) {
	if kind.Kind == "" {
		return "", ""
	}
	many, one := meta.UnsafeGuessKindToResource(kind)
	return many.Resource, strings.ToLower(one.Resource)
}
