package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

// Values are fields of a status that an Application doesn't write itself, each with its value. The zero value is empty.
// A Values isn't safe for concurrent use.
type Values struct {
	// fields holds values in the plain form of unstructured objects, by path; nil removes the field.
	fields map[string]any
}

// ownFields are the paths of the fields that only an Application writes.
var ownFields = []string{
	conditionsKey, observedGenerationKey, reconciledGenerationKey, componentStatusKey, operatorVersionKey,
	versionsKey + ".reconciled", versionsKey + ".available",
}

// Set sets the field at path, names with dots between them such as "database.endpoint". value may be anything that
// encoding/json encodes; Set makes a copy. Null removes the field, and a null inside value counts as absent. Of several
// calls for one path the last one counts; a call for a field replaces what was set inside it. A field whose name has a
// dot is set as part of the map around it. The error wraps ErrInvalid, and then v stays as it was: the path isn't
// valid, an Application writes the field itself, or value can't be encoded.
func (v *Values) Set(path string, value any) error {
	if err := validateField(path); err != nil {
		return err
	}
	plain, err := plainValue(value)
	if err != nil {
		return fmt.Errorf("status field %s: %w: %w", path, errInvalidValue, err)
	}
	maps.DeleteFunc(v.fields, func(other string, _ any) bool { return strings.HasPrefix(other, path+".") })
	if v.fields == nil {
		v.fields = map[string]any{}
	}
	v.fields[path] = plain
	return nil
}

// Clone returns a copy that shares nothing which Set changes.
func (v Values) Clone() Values { return Values{maps.Clone(v.fields)} }

// Paths returns the paths of the fields, sorted.
func (v Values) Paths() []string { return slices.Sorted(maps.Keys(v.fields)) }

func validateField(path string) error {
	if slices.Contains(strings.Split(path, "."), "") {
		return fmt.Errorf("status field %.64q: %w: use names with dots between them, such as database.endpoint", path, errInvalidPath)
	}
	for _, own := range ownFields {
		if path == own || strings.HasPrefix(path, own+".") || strings.HasPrefix(own, path+".") {
			return fmt.Errorf("status field %.64s: %w: %s is written by operkit itself: choose another field", path, errInvalidPath, own)
		}
	}
	return nil
}

// plainValue returns a copy of value as JSON has it, without nulls in maps.
func plainValue(value any) (any, error) {
	switch v := value.(type) {
	case nil, bool, int64:
		return value, nil
	case string:
		return strings.ToValidUTF8(v, "\ufffd"), nil
	}
	document, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := json.Unmarshal(document, &plain); err != nil {
		return nil, err
	}
	return withoutNulls(plain), nil
}

func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, item any) bool { return item == nil })
		for key, item := range v {
			v[key] = withoutNulls(item)
		}
	case []any:
		for i, item := range v {
			v[i] = withoutNulls(item)
		}
	}
	return value
}

// over writes the fields into a status. A value on the way to a field that isn't a map is replaced.
func (v Values) over(status map[string]any) {
	for _, path := range v.Paths() { // a field comes before the fields inside it
		names := strings.Split(path, ".")
		last := len(names) - 1
		value, parent := v.fields[path], status
		for _, name := range names[:last] {
			inner, isMap := parent[name].(map[string]any)
			if !isMap {
				if value == nil {
					parent = nil // there is nothing to remove
					break
				}
				inner = map[string]any{}
				parent[name] = inner
			}
			parent = inner
		}
		switch {
		case value != nil:
			parent[names[last]] = clone(value)
		case parent != nil:
			delete(parent, names[last])
		}
	}
}
