package dryrun

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy/internal/value"
	"k8s.io/apimachinery/pkg/api/equality"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

const quantityType = "io.k8s.apimachinery.pkg.api.resource.Quantity"

// comparer compares values as a server compares them after it has filled in its defaults. If types is nil, only values
// that are written in the same way are equal.
type comparer struct {
	types *smd.Schema
	zeros map[string][]string
}

// excepted are paths whose values aren't compared. [*] after a name stands for every item of a list.
type excepted [][]string

// below returns the excepted paths below a field. all reports whether the field itself is excepted.
func (e excepted) below(name string) (below excepted, all bool) {
	for _, path := range e {
		if strings.TrimSuffix(path[0], "[*]") == name {
			if len(path) == 1 {
				return nil, true
			}
			below = append(below, path[1:])
		}
	}
	return below, false
}

// same reports whether two values of a type are equal for a server.
func (c comparer) same(before, after any, ref smd.TypeRef, but excepted) bool {
	if ref.NamedType != nil && *ref.NamedType == quantityType {
		return value.SameQuantity(before, after) || alike(before, after)
	}
	switch before := before.(type) {
	case map[string]any:
		after, ok := after.(map[string]any)
		if !ok {
			return false
		}
		for _, content := range []map[string]any{before, after, defaultsOf(ref)} {
			for name := range content {
				if !c.sameField(before, after, name, ref, but) {
					return false
				}
			}
		}
		return true
	case []any:
		after, ok := after.([]any)
		element := smd.TypeRef{}
		if list := c.resolve(ref).List; list != nil {
			element = list.ElementType
		}
		return ok && slices.EqualFunc(before, after, func(a, b any) bool { return c.same(a, b, element, but) })
	}
	return alike(before, after)
}

func (c comparer) resolve(ref smd.TypeRef) smd.Atom {
	if c.types == nil {
		return smd.Atom{}
	}
	atom, _ := c.types.Resolve(ref)
	return atom
}

// field returns the type of a field of a type.
func (c comparer) field(ref smd.TypeRef, name string) smd.TypeRef {
	m := c.resolve(ref).Map
	if m == nil {
		return smd.TypeRef{}
	}
	if declared, ok := m.FindField(name); ok {
		return declared.Type
	}
	return m.ElementType
}

// sameField compares one field of two objects of a type.
func (c comparer) sameField(before, after map[string]any, name string, ref smd.TypeRef, but excepted) bool {
	below, all := but.below(name)
	have, want := before[name], after[name]
	if all || have == nil && want == nil {
		return all || !arises(ref, name, before, after)
	}
	field := c.field(ref, name)
	if have == nil {
		have = c.absent(ref, name, before, want, below)
	}
	if want == nil {
		want = c.absent(ref, name, after, have, below)
	}
	if have == nil || want == nil {
		return c.isEmpty(have, field) && c.isEmpty(want, field)
	}
	return c.same(have, want, field, below)
}

// arises reports whether an update makes the server set a default for a field that neither object has. A default that
// was set at creation doesn't change.
func arises(ref smd.TypeRef, name string, before, after map[string]any) bool {
	find, depends := defaultsOf(ref)[name].(func(map[string]any) any)
	return depends && find(before) == nil && find(after) != nil
}

// isEmpty reports whether a value of a type is nil, an empty list or an empty map. A server treats these as equal.
func (c comparer) isEmpty(value any, ref smd.TypeRef) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return len(value) == 0
	case map[string]any:
		m := c.resolve(ref).Map
		return len(value) == 0 && m != nil && len(m.Fields) == 0
	}
	return false
}

// absent returns the value that stands for a missing field in a comparison with other. holder is the object without the
// field. absent returns the default of the field. If there is no default, it returns the zero value if the server
// treats that like a missing field, and nil otherwise.
func (c comparer) absent(ref smd.TypeRef, name string, holder map[string]any, other any, below excepted) any {
	switch value := defaultsOf(ref)[name].(type) {
	case nil:
	case func(holder map[string]any) any:
		return value(holder)
	default:
		return value
	}
	if len(below) == 0 && (ref.NamedType == nil || !slices.Contains(c.zeros[*ref.NamedType], name)) {
		return nil
	}
	switch other.(type) {
	case map[string]any:
		return map[string]any{}
	case string:
		return ""
	case bool:
		return false
	case int64, float64:
		return int64(0)
	}
	return nil
}

func defaultsOf(ref smd.TypeRef) map[string]any {
	if ref.NamedType == nil {
		return nil
	}
	return serverDefaults[strings.TrimPrefix(*ref.NamedType, "io.k8s.api.")]
}

// alike reports whether two values are semantically equal, without defaults.
func alike(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// valueAt returns the value at a path in content, nil if there is none.
func valueAt(content map[string]any, path string) any {
	var value any = content
	for name := range strings.SplitSeq(path, ".") {
		within, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = within[name]
	}
	return value
}

// mapAt, listAt and textAt return the value at a path, or the zero value if it has another type.
func mapAt(content map[string]any, path string) map[string]any {
	value, _ := valueAt(content, path).(map[string]any)
	return value
}

func listAt(content map[string]any, path string) []any {
	value, _ := valueAt(content, path).([]any)
	return value
}

func textAt(content map[string]any, path string) string {
	value, _ := valueAt(content, path).(string)
	return value
}
