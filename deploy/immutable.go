package deploy

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Immutable declares fields of a kind that can't be changed once an object is there. Fields are paths of maps such as
// ".spec.size". With the strategy Recreate the object is made anew when such a field is set to another value, or when
// something is left out of it that this manager set, also if the cluster would accept the change. Fields that the
// cluster itself refuses to change needn't be declared.
func Immutable(kind schema.GroupKind, fields ...string) Option {
	return func(s *settings) {
		declared := s.immutable[:len(s.immutable):len(s.immutable)]
		for _, field := range fields {
			declared = append(declared, immutableField{kind, field})
		}
		s.immutable = declared
	}
}

type immutableField struct {
	kind  schema.GroupKind
	field string
}

// declaredChanges returns the fields declared by Immutable that wanted changes: it sets a value that isn't on live, or
// leaves out something that manager owns there.
func (s settings) declaredChanges(wanted, live *unstructured.Unstructured) []string {
	kind := wanted.GroupVersionKind().GroupKind()
	ours, _ := appliedFields(live, s.fieldManager)
	var fields []string
	for _, declared := range s.immutable {
		if declared.kind != kind {
			continue
		}
		var path []any
		owned := ours
		for name := range strings.SplitSeq(strings.TrimPrefix(declared.field, "."), ".") {
			path = append(path, name)
			owned = owned.below("f:" + name)
		}
		want, set := valueAt(wanted.Object, path)
		have, there := valueAt(live.Object, path)
		if set && !within(want, have, equality(live)) || there && ours.holds(path) && (!set || owned.exceeds(want)) {
			fields = append(fields, declared.field)
		}
	}
	return fields
}

// within reports whether all of want is in have, which may hold more: what the server filled in. same compares scalars.
func within(want, have any, same func(want, have any) bool) bool {
	switch want := want.(type) {
	case map[string]any:
		content, ok := have.(map[string]any)
		for name, item := range want {
			below, there := content[name]
			if !there && !isZero(item) || there && !within(item, below, same) {
				return false
			}
		}
		return ok || len(want) == 0
	case []any:
		list, _ := have.([]any)
		return slices.EqualFunc(want, list, func(want, have any) bool { return within(want, have, same) })
	}
	return same(want, have)
}
