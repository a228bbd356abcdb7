package conversiontest

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"k8s.io/apimachinery/pkg/runtime"
)

// repeats is how often a function is called with the same object. Maps are walked in another order each time.
const repeats = 4

// call is a function, with the versions that it converts from and to.
type call struct {
	name     string
	from, to conversion.Version
	function func(from, to any) error
}

// callsFrom returns the functions that get objects of a version.
func (r *run) callsFrom(v conversion.Version) (calls []call) {
	if v.Kind != r.hub.Kind {
		return []call{{"Up of " + v.Kind.Version, v, r.hub, v.Up}}
	}
	for _, spoke := range r.versions[1:] {
		calls = append(calls, call{"Down of " + spoke.Kind.Version, v, spoke, spoke.Down})
	}
	return calls
}

// checkFunction calls a function several times with the same object.
func (r *run) checkFunction(c call, object content) *Finding {
	finding := func(problem Problem, field, detail string) *Finding {
		return &Finding{Problem: problem, Function: c.name, Way: []string{c.from.Kind.Version, c.to.Kind.Version}, Field: field, Detail: detail, Object: object}
	}
	untouched, err := decode(c.from, object)
	if err != nil {
		return nil
	}
	var first content
	for range repeats {
		from, _ := decode(c.from, object)
		to, err := decode(c.to, content{"apiVersion": c.to.Kind.GroupVersion().String(), "kind": c.to.Kind.Kind, "metadata": object["metadata"]})
		if err != nil {
			return nil
		}
		err = failure.Guard(func() error { return c.function(from, to) })
		if panicked, ok := errors.AsType[*dag.PanicError](err); ok {
			return finding(Panics, "", fmt.Sprint(panicked.Value))
		}
		if err != nil {
			return finding(Fails, "", err.Error())
		}
		if !reflect.DeepEqual(from, untouched) {
			field, detail := firstDifference(untouched, from)
			return finding(Changes, field, detail)
		}
		result, err := contentOf(to)
		if err != nil {
			return finding(Fails, "", err.Error())
		}
		if first == nil {
			first = result
		}
		for _, d := range differences("", typed.WithoutNulls(first), typed.WithoutNulls(result)) {
			return finding(Differs, d.path, d.String())
		}
	}
	return nil
}

// firstDifference returns a field that differs, and how. There is none if nil has become empty.
func firstDifference(before, after any) (field, detail string) {
	was, errBefore := contentOf(before)
	is, errAfter := contentOf(after)
	if errBefore != nil || errAfter != nil {
		return "", ""
	}
	for _, d := range differences("", was, is) {
		return d.path, d.String()
	}
	return "", ""
}

// along converts an object through all versions of a way.
func (r *run) along(way []conversion.Version, object content) (content, error) {
	at := &unstructuredObject{Object: runtime.DeepCopyJSON(object)}
	for _, next := range way[1:] {
		var err error
		if at, err = r.converter.Convert(at, next.Kind.Version); err != nil {
			return nil, err
		}
		at = &unstructuredObject{Object: jsonOf(at.Object)} // as the API server would send it
	}
	return at.Object, nil
}

// checkWay converts an object through other versions, and back.
func (r *run) checkWay(way []conversion.Version, object content) *Finding {
	finding := &Finding{Problem: Lost, Function: strings.Join(r.functionsOn(way), ", "), Object: object}
	for _, v := range way {
		finding.Way = append(finding.Way, v.Kind.Version)
	}
	after, err := r.along(way, object)
	if err != nil {
		finding.Detail = err.Error()
		return finding
	}
	for _, d := range differences("", r.normal(way[0], object), r.normal(way[0], after)) {
		finding.Field, finding.Detail = d.path, d.String()
		return finding
	}
	return nil
}

var index = regexp.MustCompile(`\[\d+\]`)

// everyItem returns a path with [*] for each item of a list.
func everyItem(path string) string { return index.ReplaceAllString(path, "[*]") }

// checkKept records the fields that return only because of the annotation.
func (r *run) checkKept(v, through conversion.Version, object content) {
	for _, d := range r.forgotten(v, through, object) {
		field := everyItem(d.path)
		if r.kept[v.Kind.Version] == nil {
			r.kept[v.Kind.Version] = map[string]bool{}
		}
		r.kept[v.Kind.Version][field] = true
		declared, strict := r.options.keeps[v.Kind.Version]
		if !strict || covers(declared, field) {
			continue
		}
		r.note(v, object, func(object content) *Finding {
			for _, d := range r.forgotten(v, through, object) {
				if everyItem(d.path) == field {
					return &Finding{Problem: Kept, Function: strings.Join(r.functionsOn([]conversion.Version{v, through, v}), " or "), Way: []string{v.Kind.Version, through.Kind.Version, v.Kind.Version},
						Field: field, Detail: d.String() + ", without the annotation that keeps it: convert it, or declare it by Keeps", Object: object}
				}
			}
			return nil
		})
	}
}

// forgotten returns the fields that don't return from another version without the annotation.
func (r *run) forgotten(v, through conversion.Version, object content) []difference {
	object = known(v, object)
	there, err := r.along([]conversion.Version{v, through}, object)
	if err != nil {
		return nil
	}
	back, err := r.along([]conversion.Version{through, v}, r.unkept(there))
	if err != nil {
		return nil
	}
	return differences("", withoutEmpty(r.normal(v, object)), withoutEmpty(r.normal(v, back)))
}

// withoutEmpty returns a value without maps and lists that are empty.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case content:
		kept := content{}
		for key, inner := range v {
			if inner = withoutEmpty(inner); inner != nil {
				kept[key] = inner
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	case []any:
		if len(v) == 0 {
			return nil
		}
	}
	return value
}
