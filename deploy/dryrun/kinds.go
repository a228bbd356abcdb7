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

// kinds are those that a Cluster serves: those of Kubernetes, those of the
// CustomResourceDefinitions in it, and, if it accepts any, those that objects were given of.
// They are guarded by the lock of the Cluster.
type kinds struct {
	builtin *builtins
	// any accepts what nobody has declared, schemaless looks at no declaration.
	any, schemaless bool
	clusterScoped   []schema.GroupKind
	// custom are the kinds of CustomResourceDefinitions, by group and kind, then by version.
	custom map[schema.GroupKind]map[string]*declaration
	// definedBy are the names of those CustomResourceDefinitions.
	definedBy map[schema.GroupKind]string
	// seen are the undeclared ones.
	seen map[schema.GroupVersionKind]*declaration
}

func newKinds(o options) (*kinds, error) {
	known, err := builtin()
	if err != nil {
		return nil, err
	}
	return &kinds{
		builtin: known, any: o.anyKind, schemaless: o.schemaless, clusterScoped: slices.Clone(o.clusterScoped),
		custom: map[schema.GroupKind]map[string]*declaration{}, definedBy: map[schema.GroupKind]string{},
		seen: map[schema.GroupVersionKind]*declaration{},
	}, nil
}

// of returns what is known of a kind, or a *deploy.KindUnknownError.
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
	d.unseen = true
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

// declared returns what is known of a kind, or a *deploy.KindUnknownError.
func (c *Cluster) declared(kind schema.GroupVersionKind) (*declaration, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds.of(kind)
}

// live returns the object that a request of a version is about, nil when there is none. The
// lock is held.
func (c *Cluster) live(d *declaration, at address) *unstructured.Unstructured {
	if d.unseen {
		return nil
	}
	return c.storage.get(at)
}

// shows reports whether objects exist in the version of a declaration. The lock is held.
func (c *Cluster) shows(d *declaration) bool { return !d.unseen || c.kinds.seen[d.kind] != nil }

// see remembers a kind that nobody declares and that an object is given of for the first time:
// those that wait for objects of that version are told of what there is. The lock is held.
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
	if slices.Contains(kubernetesClusterScoped[kind.Group], kind.Kind) || slices.Contains(k.clusterScoped, kind) {
		return deploy.ClusterScoped
	}
	return deploy.Namespaced
}

// called returns the kinds whose name is name, or else those that are called that, ascending,
// each in the best of its versions.
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

// named reports whether people may call the kind name beside its proper one.
func (d *declaration) named(name string) bool {
	return d.plural == name || d.singular == name || slices.Contains(d.short, name)
}

// selectableBy reports whether lists can be selected by a field.
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
