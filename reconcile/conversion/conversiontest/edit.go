package conversiontest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/reconcile/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// enoughEdits is how many edits of a field must have had no effect, until it is taken for one that is ignored.
const enoughEdits = 8

// edited is what is known about a field of one version that is filled from another version.
type edited struct {
	version, other conversion.Version
	field          string
	// values are values that the field got, by their text. nil is none: seen counts the objects that have the field.
	values map[string]any
	seen   int
	// tried counts the edits, and arrived those that changed the object in the other version.
	tried, arrived int
}

// edit converts an object, edits a field that the conversion has filled, and converts it back. A field that is known to
// arrive isn't edited again.
func (r *run) edit(other, version conversion.Version, object content) {
	there, err := r.along([]conversion.Version{other, version}, object)
	if err != nil {
		return
	}
	all := r.editsOf(version, other, "")
	all.seen++
	var candidates []string
	for path, value := range leaves("", there) {
		field := everyItem(path)
		e := r.editsOf(version, other, field)
		if text := shortened(value); len(e.values) < 50 {
			e.values[text] = value
		}
		if e.seen++; e.seen < all.seen && !strings.HasSuffix(path, "]") {
			e.values[""] = nil
		}
		open := e.arrived == 0 && e.tried < enoughEdits
		if open && len(e.values) > 1 && !covers(r.options.derived[version.Kind.Version], field) {
			candidates = append(candidates, path)
		}
	}
	if len(candidates) == 0 {
		return
	}
	slices.Sort(candidates)
	path := pick(r.generator, candidates...)
	r.try(r.editsOf(version, other, everyItem(path)), path, there)
}

// try sets the field at a path to another value that it can have.
func (r *run) try(e *edited, path string, there content) {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(e.values)), func(text string) bool { return text == shortened(leaves("", there)[path]) })
	if len(others) == 0 {
		return
	}
	text := pick(r.generator, others...)
	changed := runtime.DeepCopyJSON(there)
	if !replaceAt(changed, path, e.values[text]) || reflect.DeepEqual(changed, there) {
		return
	}
	way := []conversion.Version{e.version, e.other}
	before, errBefore := r.along(way, there)
	after, errAfter := r.along(way, changed)
	if errBefore != nil || errAfter != nil {
		return
	}
	e.tried++
	if len(differences("", r.normal(e.other, before), r.normal(e.other, after))) > 0 {
		e.arrived++
	}
	r.note(e.version, changed, func(object content) *Finding {
		return r.checkWay([]conversion.Version{e.version, e.other, e.version}, object)
	})
}

func (r *run) editsOf(version, other conversion.Version, field string) *edited {
	key := version.Kind.Version + " " + other.Kind.Version + " " + field
	if r.edits[key] == nil {
		r.edits[key] = &edited{version: version, other: other, field: field, values: map[string]any{}}
	}
	return r.edits[key]
}

// judgeEdits reports the fields whose edits have never arrived.
func (r *run) judgeEdits() {
	for _, key := range slices.Sorted(maps.Keys(r.edits)) {
		e := r.edits[key]
		if e.tried < enoughEdits || e.arrived > 0 {
			continue
		}
		function := "Up of " + e.version.Kind.Version
		if e.version.Kind == r.hub.Kind {
			function = "Down of " + e.other.Kind.Version
		}
		r.add(Finding{
			Problem: Unread, Function: function, Way: []string{e.version.Kind.Version, e.other.Kind.Version}, Field: e.field,
			Detail: fmt.Sprintf("%s of %s: %d edits of it have changed nothing in %s: convert it, or declare it by Derived", e.field, e.version.Kind.Version, e.tried, e.other.Kind.Version),
		})
	}
}

// leaves returns the values of an object that are neither maps nor lists, by their paths, without the headers.
func leaves(path string, value any) map[string]any {
	found := map[string]any{}
	switch v := value.(type) {
	case content:
		for key, inner := range v {
			if path == "" && slices.Contains(headers, key) || strings.ContainsAny(key, ".[]") {
				continue
			}
			maps.Copy(found, leaves(strings.TrimPrefix(path+"."+key, "."), inner))
		}
	case []any:
		for i, inner := range v {
			maps.Copy(found, leaves(fmt.Sprintf("%s[%d]", path, i), inner))
		}
	case nil:
	default:
		found[path] = value
	}
	return found
}

// replaceAt sets the value at a path that is there; nil removes it.
func replaceAt(object any, path string, value any) bool {
	key, rest, _ := strings.Cut(strings.ReplaceAll(path, "[", ".["), ".")
	last := rest == ""
	rest = strings.ReplaceAll(rest, ".[", "[")
	switch at := object.(type) {
	case content:
		if !last {
			return replaceAt(at[key], rest, value)
		}
		if at[key] = value; value == nil {
			delete(at, key)
		}
	case []any:
		i, err := strconv.Atoi(strings.Trim(key, "[]"))
		if err != nil || i >= len(at) {
			return false
		}
		if !last {
			return replaceAt(at[i], rest, value)
		}
		at[i] = value
	default:
		return false
	}
	return true
}
