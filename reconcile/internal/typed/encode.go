package typed

import (
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Encode returns the merge patch that makes the change from before to after, empty if nothing differs. Applied to the
// object that Decode returned as before, it makes the object that Decode returns as after:
//
//   - Fields that T doesn't have stay. They are removed only with a field that holds them: an element of a list that
//     has changed, since lists are replaced as a whole, a key of a map, or a pointer that is nil now.
//   - Nil and an absent field are the same.
//
// Encode changes nothing; the patch may share values with after.
func Encode[T any](before, after *T) (map[string]any, error) {
	from, err := Content(before)
	if err != nil {
		return nil, err
	}
	to, err := Content(after)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", refOf(from), err)
	}
	keepStructs(reflect.TypeFor[T](), from, to)
	patch, err := smp.DiffMerge(from, to, smp.Shared())
	if err != nil {
		return nil, fmt.Errorf("%s: %T: %w", refOf(from), *after, err)
	}
	content, _ := patch.(map[string]any)
	return content, nil
}

// Apply returns an object after a patch of Encode. Both stay as they are; the result may share values with them, so
// don't change it. A patch that would make another object of it, by another kind, namespace or name, is an error.
func Apply(object, patch map[string]any) (map[string]any, error) {
	patched, err := smp.Merge(object, patch, smp.Shared())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", refOf(object), err)
	}
	content, _ := patched.(map[string]any)
	return content, nil
}

// Change returns an object as change changes it. Fields that T doesn't have stay, as for Encode. The object stays as it
// is; the result may share values with it, so don't change it.
func Change[T any](object map[string]any, change func(object *T)) (map[string]any, error) {
	before, err := Decode[T](object)
	if err != nil {
		return nil, err
	}
	after, err := Decode[T](object)
	if err != nil {
		return nil, err
	}
	change(after)
	patch, err := Encode(before, after)
	if err != nil {
		return nil, err
	}
	return Apply(object, patch)
}

// Content returns the content of a value, without fields that are null. The error names the type.
func Content[T any](value *T) (content map[string]any, err error) {
	switch v := any(value).(type) {
	case *unstructured.Unstructured:
		content, err = plain.Map(v.Object)
	default:
		if err = Check[T](); err == nil {
			content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(v)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%T can't be written as an object: %w", *value, err)
	}
	return WithoutNulls(content), nil
}

// WithoutNulls returns the content without fields of maps that are null. Lists stay as they are.
func WithoutNulls(content map[string]any) map[string]any {
	kept := make(map[string]any, len(content))
	for key, value := range content {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			kept[key] = WithoutNulls(v)
		default:
			kept[key] = value
		}
	}
	return kept
}

// keepStructs adds structs to after that were left out because they are zero now (omitzero): the patch removes their
// fields, and not the whole struct with the fields that the type doesn't have.
func keepStructs(t reflect.Type, before, after map[string]any) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || isCustom(t) {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, inlined := nameOf(field)
		if inlined {
			keepStructs(field.Type, before, after)
			continue
		}
		inner, was := before[name].(map[string]any)
		if !was {
			continue
		}
		kept, is := after[name].(map[string]any)
		if !is && (field.Type.Kind() != reflect.Struct || isCustom(field.Type)) {
			continue
		}
		if !is {
			kept = map[string]any{}
			after[name] = kept
		}
		keepStructs(field.Type, inner, kept)
	}
}
