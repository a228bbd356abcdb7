package explore

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Ignore names objects, or fields of objects, that aren't judged, because the operator treats them so on purpose:
// "PersistentVolumeClaim *", "Lease kube-system/lock", "Shop * status.conditions[Resumed]". In a name of an object, a
// star stands for any characters but a slash. A name without a namespace means objects in any namespace. In a field,
// [NAME] is the element of a list whose type or name is NAME, or the key NAME of a map. The States of Always and
// Eventually have the ignored objects and fields.
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

// unignored returns the calls that are judged.
func (e *explorer) unignored(h *reconciletest.Harness, calls []reconciletest.Call) []reconciletest.Call {
	if len(e.options.ignored) == 0 {
		return calls
	}
	return slices.DeleteFunc(slices.Clone(calls), func(call reconciletest.Call) bool { return e.ignores(h, call) })
}

// ignores reports whether a call is about an ignored object, or changes only ignored fields.
func (e *explorer) ignores(h *reconciletest.Harness, call reconciletest.Call) bool {
	if e.options.ignoresObject(call.Ref) {
		return true
	}
	obj, err := h.Memory().View().Get(e.t.Context(), call.Ref)
	if err != nil || obj == nil {
		return false
	}
	return len(call.Changes) > 0 && !slices.ContainsFunc(call.Changes, func(change deploy.Change) bool {
		return !e.options.ignoresField(call.Ref, strings.Join(namesIn(change.Path, obj.Object), "."))
	})
}

// ignoresField reports whether a field is ignored, or what is around it. at are the names on the way to it.
func (o *options) ignoresField(ref deploy.Ref, at string) bool {
	return slices.ContainsFunc(o.ignored, func(p exception) bool {
		return p.means(ref) && strings.HasPrefix(at+".", strings.Join(p.field, ".")+".")
	})
}

var elementKeys = regexp.MustCompile(`\[\w+="?([^"\]]*)"?\]`)

// namesIn returns the names on the way to a field in the notation of a deploy.Change. An index into a list becomes the
// type or name of the element.
func namesIn(path string, content any) (way []string) {
	for _, part := range fieldParts.FindAllString(elementKeys.ReplaceAllString(path, "[$1]"), -1) {
		name := strings.Trim(part, "[]")
		switch value := content.(type) {
		case map[string]any:
			content = value[name]
		case []any:
			at, err := strconv.Atoi(name)
			if content = nil; err != nil {
				at = slices.IndexFunc(value, func(item any) bool { return named(item, name) })
			}
			if at >= 0 && at < len(value) {
				content = value[at]
				name = nameIn(value[at], name)
			}
		}
		way = append(way, name)
	}
	return way
}

// nameIn returns the type or the name of an element of a list, or otherwise if it has none.
func nameIn(item any, otherwise string) string {
	fields, _ := item.(map[string]any)
	for _, key := range []string{"type", "name"} {
		if name, is := fields[key].(string); is {
			return name
		}
	}
	return otherwise
}
