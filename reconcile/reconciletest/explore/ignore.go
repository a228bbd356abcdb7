package explore

import (
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Ignore names objects, or fields of objects, that aren't judged, because the operator treats them so on purpose:
// "PersistentVolumeClaim *", "Lease kube-system/lock", "Shop * status.conditions[Resumed]". In a name of an object, a
// star stands for any characters but a slash. A name without a namespace means objects in any namespace. In a field,
// [NAME] is the element of a list whose type or name is NAME, or the key NAME of a map. "Event Opened" is about events
// with the reason Opened. The States of Always and Eventually have the ignored objects and fields. Objects of others
// that are ignored aren't changed either.
func Ignore(patterns ...string) Option {
	return func(o *options) { o.ignores = append(o.ignores, patterns...) }
}

// ignoresObject reports whether a whole object is ignored.
func (o *options) ignoresObject(ref deploy.Ref) bool {
	return slices.ContainsFunc(o.ignored, func(p exception) bool { return len(p.field) == 0 && p.means(ref) })
}

// judged leaves out the ignored objects and fields. It changes the objects.
func (o *options) judged(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	if len(o.ignored) == 0 {
		return objects
	}
	objects = slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool { return o.ignoresObject(deploy.RefOf(obj)) })
	for _, obj := range objects {
		for _, p := range o.ignored {
			if p.means(deploy.RefOf(obj)) {
				cutOut(obj.Object, p.field)
			}
		}
	}
	return objects
}

// cutOut removes a field, and maps and lists that are empty without it.
func cutOut(value any, field []string) (left any) {
	last := len(field) == 1
	switch value := value.(type) {
	case map[string]any:
		if inner := value[field[0]]; !last && inner != nil {
			value[field[0]] = cutOut(inner, field[1:])
		}
		if last || value[field[0]] == nil {
			delete(value, field[0])
		}
		if len(value) == 0 {
			return nil
		}
	case []any:
		for i, item := range value {
			if named(item, field[0]) && !last {
				value[i] = cutOut(item, field[1:])
			}
		}
		value = slices.DeleteFunc(value, func(item any) bool { return item == nil || last && named(item, field[0]) })
		if len(value) == 0 {
			return nil
		}
		return value
	}
	return value
}

// named reports whether an element of a list has a type or a name.
func named(item any, name string) bool {
	fields, _ := item.(map[string]any)
	return fields["type"] == name || fields["name"] == name
}
