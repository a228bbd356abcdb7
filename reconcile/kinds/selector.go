package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Core is the Group of a Selector for the core group of Kubernetes, whose name is empty.
const Core = "core"

// Selector selects kinds by what a cluster says about them. A kind is selected if it matches all fields that aren't
// empty. The zero value selects every kind, except Events. Group, Version, Name and Category may be patterns of
// path.Match, such as "*.example.dev".
type Selector struct {
	// Group is the API group, or Core.
	Group string
	// Version is the version. If it is empty, kinds are selected in the version that the cluster prefers.
	Version string
	// Name is the kind, or the plural, the singular or a short name of its resource; it is case-sensitive. If a Name
	// without a pattern means several kinds, the one in the core group is selected, or none if no kind is in the core
	// group. Events are selected only by a Name without a pattern.
	Name string
	// Category is one of the categories of the kind, such as "all".
	Category string
	// Where reports whether a kind is selected that matches the other fields; nil selects all.
	Where func(kind deploy.ServedKind) bool
	// Basis returns what the reconciler of a kind is made of, a comparable value. When it is another value than before,
	// the kind gets a new reconciler. nil: it never is.
	Basis func(kind deploy.ServedKind) any
	// Options returns how the objects of a kind are reconciled, such as watch.Workers for how many of them at once;
	// nil: as others. Driver.Options win over it.
	Options func(kind deploy.ServedKind) []watch.Option
	// Finalizers returns the names of the finalizers that the reconciler of a kind has, for the command release of an
	// operator, which then needn't make the reconciler; nil: it makes the reconciler and asks that.
	Finalizers func(kind deploy.ServedKind) []string
	// Changed tells a Driver that Where or Basis may return something else than before: after each receive it asks
	// again. nil: they depend on nothing but the kind.
	Changed <-chan struct{}
}

// optionsOf returns the options for a kind.
func (s Selector) optionsOf(kind deploy.ServedKind) []watch.Option {
	if s.Options == nil {
		return nil
	}
	return s.Options(kind)
}

// basisOf returns the basis of a kind, nil if the selector has none.
func (s Selector) basisOf(kind deploy.ServedKind) any {
	if s.Basis == nil {
		return nil
	}
	return s.Basis(kind)
}

// Check returns an error if a pattern is invalid.
func (s Selector) Check() error {
	for _, field := range []struct{ name, pattern string }{
		{"group", s.Group}, {"version", s.Version}, {"name", s.Name}, {"category", s.Category},
	} {
		if _, err := path.Match(field.pattern, ""); err != nil {
			return fmt.Errorf("selector: %s %q: not a pattern of path.Match: %w", field.name, field.pattern, err)
		}
	}
	return nil
}

// Select returns the selected kinds of all kinds that a cluster serves, as deploy.KindView reports them: each kind in
// one version, sorted by group and kind. It returns none if the Name is ambiguous.
func (s Selector) Select(all []deploy.ServedKind) []deploy.ServedKind {
	found := slices.Collect(maps.Values(s.of(all).kinds))
	slices.SortFunc(found, func(a, b deploy.ServedKind) int {
		return cmp.Or(cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Kind, b.Kind.Kind))
	})
	return found
}

// selection is what a Selector selects.
type selection struct {
	kinds map[schema.GroupKind]deploy.ServedKind
	// ambiguous are the kinds that the Name means, if it means several.
	ambiguous []string
}

// of returns the selected kinds of all kinds that a cluster serves, in which the versions of a kind are in the order of
// preference.
func (s Selector) of(all []deploy.ServedKind) selection {
	found := selection{kinds: map[schema.GroupKind]deploy.ServedKind{}}
	for _, kind := range all {
		if _, better := found.kinds[kind.Kind.GroupKind()]; !better && s.matches(kind) {
			found.kinds[kind.Kind.GroupKind()] = kind
		}
	}
	if !isExact(s.Name) || len(found.kinds) < 2 {
		return found
	}
	only := selection{kinds: map[schema.GroupKind]deploy.ServedKind{}}
	for group, kind := range found.kinds {
		only.ambiguous = append(only.ambiguous, group.String())
		if group.Group == "" {
			return selection{kinds: map[schema.GroupKind]deploy.ServedKind{group: kind}}
		}
	}
	slices.Sort(only.ambiguous)
	return only
}

func (s Selector) matches(kind deploy.ServedKind) bool {
	group := kind.Kind.Group
	if group == "" {
		group = Core
	}
	switch {
	case !matches(s.Group, group), s.Version == "" && !kind.Preferred, !matches(s.Version, kind.Kind.Version):
		return false
	case s.Name != "" && !slices.ContainsFunc(namesOf(kind), func(name string) bool { return matches(s.Name, name) }):
		return false
	case s.Category != "" && !slices.ContainsFunc(kind.Categories, func(name string) bool { return matches(s.Category, name) }):
		return false
	case isEvent(kind) && !isExact(s.Name):
		return false
	}
	return s.Where == nil || s.Where(kind)
}

func namesOf(kind deploy.ServedKind) []string {
	return append([]string{kind.Kind.Kind, kind.Resource}, kind.Names...)
}

// matches reports whether a pattern matches; an empty pattern matches all.
func matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	matched, err := path.Match(pattern, text)
	return err == nil && matched
}

// isExact reports whether a name is given that isn't a pattern.
func isExact(name string) bool { return name != "" && !strings.ContainsAny(name, `*?[\`) }

func isEvent(kind deploy.ServedKind) bool {
	return kind.Resource == "events" && (kind.Kind.Group == "" || kind.Kind.Group == "events.k8s.io")
}
