package conversiontest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

type (
	unstructuredObject = unstructured.Unstructured
	content            = map[string]any
)

// headers are the fields that are the same in all versions, besides the apiVersion.
var headers = []string{"apiVersion", "kind", "metadata"}

// decode returns content as a pointer to a value of a version's type.
func decode(v conversion.Version, object content) (any, error) {
	value := reflect.New(v.Type).Interface()
	if u, ok := value.(*unstructuredObject); ok {
		u.Object = runtime.DeepCopyJSON(object)
		return u, nil
	}
	return value, runtime.DefaultUnstructuredConverter.FromUnstructured(runtime.DeepCopyJSON(object), value)
}

// contentOf returns a value as content, as the API server would send it.
func contentOf(value any) (content, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var object content
	return object, apijson.Unmarshal(text, &object)
}

// generate returns an object of a version. Some fields are absent, null, or unknown to the type.
func (r *run) generate(v conversion.Version) content {
	r.left = pick(r.generator, 15, 40, 100)
	value := reflect.New(v.Type)
	if u, ok := value.Interface().(*unstructuredObject); ok {
		u.Object = content{"spec": content{"a": r.any(1), "b": r.any(1)}, "status": content{"a": r.any(1)}}
	} else {
		r.fill(value.Elem(), 0)
	}
	object, err := contentOf(value.Interface())
	if err != nil { // such as for a custom type that can't be written: all of it is zero then
		object, _ = contentOf(reflect.New(v.Type).Interface())
	}
	head(v, object, r.metadata())
	for range r.IntN(4) {
		changed := runtime.DeepCopyJSON(object)
		r.vary(changed)
		if _, err := decode(v, changed); err == nil {
			object = changed
		}
	}
	return r.valid(v, object)
}

func head(v conversion.Version, object, metadata content) {
	object["apiVersion"], object["kind"], object["metadata"] = v.Kind.GroupVersion().String(), v.Kind.Kind, metadata
	for key, value := range object {
		if value == nil {
			delete(object, key)
		}
	}
}

// vary removes a field, makes it null, or adds one that the type doesn't know.
func (r *run) vary(object content) {
	at, key := object, ""
	for {
		var keys []string
		for name := range at {
			if !slices.Contains(headers, name) {
				keys = append(keys, name)
			}
		}
		if len(keys) == 0 {
			return
		}
		slices.Sort(keys)
		key = pick(r.generator, keys...)
		inner, isMap := at[key].(content)
		if !isMap || len(inner) == 0 || r.one(5) {
			break
		}
		at = inner
	}
	switch r.IntN(4) {
	case 0:
		at["unknownToTheType"] = content{"a": "b"}
	case 1:
		at[key] = nil
	default:
		delete(at, key)
	}
}

// valid returns an object as the option Valid makes it.
func (r *run) valid(v conversion.Version, object content) content {
	change := r.options.valid[v.Type]
	value, err := decode(v, object)
	if change == nil || err != nil {
		return object
	}
	change(value)
	changed, err := contentOf(value)
	if err != nil {
		return object
	}
	metadata, _ := object["metadata"].(content)
	head(v, changed, metadata)
	return changed
}

// normal returns an object in the form in which objects are compared: with the fields that its type always writes,
// without nulls, without an empty status, and without what a conversion keeps.
func (r *run) normal(v conversion.Version, object content) content {
	object = typed.WithoutNulls(jsonOf(object))
	if value, err := decode(v, object); err == nil {
		if written, err := contentOf(value); err == nil {
			object = over(typed.WithoutNulls(written), object)
		}
	}
	if status, ok := object["status"].(content); ok && len(status) == 0 {
		delete(object, "status")
	}
	object["metadata"] = r.unkept(object)["metadata"]
	return object
}

// known returns what a version's type knows of an object, without nulls.
func known(v conversion.Version, object content) content {
	value, err := decode(v, typed.WithoutNulls(object))
	if err != nil {
		return object
	}
	written, err := contentOf(value)
	if err != nil {
		return object
	}
	return typed.WithoutNulls(written)
}

// jsonOf returns content after a way through JSON, which has one form of each number.
func jsonOf(object content) content {
	if through, err := contentOf(object); err == nil {
		return through
	}
	return object
}

// over returns the fields of both, where those of object win.
func over(written, object content) content {
	merged := maps.Clone(written)
	for key, value := range object {
		inner, isMap := value.(content)
		if before, wasMap := written[key].(content); isMap && wasMap {
			value = over(before, inner)
		}
		merged[key] = value
	}
	return merged
}

// unkept returns an object without the annotations in which a conversion keeps fields.
func (r *run) unkept(object content) content {
	object = runtime.DeepCopyJSON(object)
	metadata, _ := object["metadata"].(content)
	annotations, _ := metadata["annotations"].(content)
	for name := range annotations {
		if slices.ContainsFunc(r.versions, func(v conversion.Version) bool { return strings.HasSuffix(name, "/kept-"+v.Kind.Version) }) {
			delete(annotations, name)
		}
	}
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return object
}

// difference is a field that differs.
type difference struct {
	path          string
	before, after any
}

func (d difference) String() string {
	return fmt.Sprintf("%s is %s and becomes %s", d.path, shortened(d.before), shortened(d.after))
}

// differences returns the fields that differ, by their paths. A field that is absent is nil.
func differences(path string, before, after any) (found []difference) {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	was, isMap := before.(content)
	is, stays := after.(content)
	if isMap && stays {
		keys := maps.Clone(was)
		maps.Copy(keys, is)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			found = append(found, differences(strings.TrimPrefix(path+"."+key, "."), was[key], is[key])...)
		}
		return found
	}
	wasList, isList := before.([]any)
	isNow, staysList := after.([]any)
	if isList && staysList && len(wasList) == len(isNow) {
		for i := range wasList {
			found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), wasList[i], isNow[i])...)
		}
		return found
	}
	return []difference{{path, before, after}}
}

// shortened returns a value as JSON, "absent" for nil.
func shortened(value any) string {
	if value == nil {
		return "absent"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(text) > 200 {
		return string(text[:200]) + "…"
	}
	return string(text)
}
