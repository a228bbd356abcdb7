package deploy

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inventory is where members of a set may be: kinds, and namespaces.
type inventory struct {
	kinds      map[schema.GroupKind]bool
	namespaces map[string]bool
}

func newInventory() inventory {
	return inventory{map[schema.GroupKind]bool{}, map[string]bool{}}
}

// add takes in where an object is. Names that no object can have are left out: they would be read
// as something else.
func (i inventory) add(ref Ref) {
	kind := ref.Kind.GroupKind()
	if kind.Kind != "" && !strings.ContainsAny(kind.Kind, ",.") && !strings.Contains(kind.Group, ",") {
		i.kinds[kind] = true
	}
	if ref.Namespace != "" && !strings.Contains(ref.Namespace, ",") {
		i.namespaces[ref.Namespace] = true
	}
}

// with returns what is in either.
func (i inventory) with(other inventory) inventory {
	both := newInventory()
	for _, one := range []inventory{i, other} {
		maps.Copy(both.kinds, one.kinds)
		maps.Copy(both.namespaces, one.namespaces)
	}
	return both
}

// holds tells whether all of other is in i.
func (i inventory) holds(other inventory) bool {
	all := i.with(other)
	return len(all.kinds) == len(i.kinds) && len(all.namespaces) == len(i.namespaces)
}

// annotations write it on a parent in the given namespace, which goes without saying.
func (i inventory) annotations(own string) map[string]string {
	kinds := make([]string, 0, len(i.kinds))
	for kind := range i.kinds {
		kinds = append(kinds, kind.String())
	}
	slices.Sort(kinds)
	namespaces := slices.DeleteFunc(slices.Sorted(maps.Keys(i.namespaces)), func(name string) bool { return name == own })
	return map[string]string{
		SetKindsAnnotation:      strings.Join(kinds, ","),
		SetNamespacesAnnotation: strings.Join(namespaces, ","),
	}
}

// readInventory is the reverse.
func readInventory(annotations map[string]string, own string) inventory {
	i := newInventory()
	for kind := range strings.SplitSeq(annotations[SetKindsAnnotation], ",") {
		kind = strings.TrimSpace(kind)
		if parsed := schema.ParseGroupKind(kind); parsed.Kind != "" && !strings.ContainsFunc(kind, unicode.IsSpace) {
			i.kinds[parsed] = true
		}
	}
	for name := range strings.SplitSeq(annotations[SetNamespacesAnnotation]+","+own, ",") {
		if name = strings.TrimSpace(name); name != "" {
			i.namespaces[name] = true
		}
	}
	return i
}

func (i inventory) sortedKinds() []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(i.kinds), func(a, b schema.GroupKind) int {
		return strings.Compare(a.String(), b.String())
	})
}
