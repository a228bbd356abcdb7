package smp

import (
	"errors"
	"slices"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// The reference says rules 12 to 22 once more, with deep copies and simple loops and without a thought for speed or for
// good messages. The engine has to agree with it.

var errReference = errors.New("the rules refuse it")

func reference(doc, patch map[string]any, s Schema) (map[string]any, error) {
	if _, hasKind := doc["kind"].(string); !s.Known() && (!hasKind || directsLists(patch)) {
		return nil, errReference
	}
	return referenceMap(copied(doc).(map[string]any), copied(patch).(map[string]any), s.place.Type)
}

func copied(value any) any {
	out, err := document.Clone(value, 1000)
	if err != nil {
		panic(err)
	}
	return out
}

// directsLists reports whether a patch holds a directive about a list, which one of an unknown kind may not (rule 28).
// What is deleted isn't looked at.
func directsLists(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		if mark := value["$patch"]; mark != nil && mark != "replace" {
			return false
		}
		for key, field := range value {
			if directiveKey(key) && key != "$patch" && key != "$retainKeys" || directsLists(field) {
				return true
			}
		}
	case []any:
		for _, element := range value {
			fields, _ := element.(map[string]any)
			if _, marked := fields["$patch"]; marked || directsLists(element) {
				return true
			}
		}
	}
	return false
}

// referenceMap merges a map into another one (rules 13, 14, 20).
func referenceMap(live, patch map[string]any, t *schema.Type) (map[string]any, error) {
	if mark, marked := patch["$patch"]; marked {
		switch mark {
		case "replace":
			delete(patch, "$patch")
			return literal(patch).(map[string]any), nil
		case "delete":
			return map[string]any{}, nil
		default:
			return nil, errReference
		}
	}
	if err := retain(live, patch); err != nil {
		return nil, err
	}
	fields := map[string]bool{}
	for key := range patch {
		name, err := fieldOf(key)
		if err != nil {
			return nil, err
		}
		fields[name] = true
	}
	for name := range fields {
		if err := referenceField(live, patch, name, t); err != nil {
			return nil, err
		}
	}
	return live, nil
}

// retain deletes what $retainKeys doesn't list.
func retain(live, patch map[string]any) error {
	value, has := patch["$retainKeys"]
	if !has {
		return nil
	}
	delete(patch, "$retainKeys")
	keys, isList := value.([]any)
	if !isList {
		return errReference
	}
	for key, value := range patch {
		if value != nil && !strings.HasPrefix(key, "$") && !slices.Contains(keys, any(key)) {
			return errReference
		}
	}
	for key := range live {
		if !slices.Contains(keys, any(key)) {
			delete(live, key)
		}
	}
	return nil
}

func fieldOf(key string) (string, error) {
	for _, directive := range []string{"$deleteFromPrimitiveList", "$setElementOrder"} {
		if name, has := strings.CutPrefix(key, directive+"/"); has {
			return name, nil
		}
		if key == directive {
			return "", errReference
		}
	}
	return key, nil
}

// referenceField does all that a patch says about one field: its value, the order of its elements, and what is removed
// from it (rules 13, 18, 19).
func referenceField(live, patch map[string]any, name string, t *schema.Type) error {
	place, known := t.Field(name)
	value, set := patch[name]
	order, ordered := patch["$setElementOrder/"+name]
	switch {
	case ordered:
		if err := setOrdered(live, value, order, name, set, place, known); err != nil {
			return err
		}
	case set:
		if err := setField(live, value, name, place, known); err != nil {
			return err
		}
	}
	if remove, has := patch["$deleteFromPrimitiveList/"+name]; has {
		return removeFrom(live, remove, name, place, known)
	}
	return nil
}

// setField merges the value of a field (rules 13, 22).
func setField(live map[string]any, value any, name string, place schema.Place, known bool) error {
	old, exists := live[name]
	switch {
	case value == nil:
		delete(live, name)
		return nil
	case !exists || !sameType(old, value):
		if fresh, keep := cleaned(value); keep {
			live[name] = fresh
		} else {
			delete(live, name)
		}
		return nil
	}
	var err error
	switch value := value.(type) {
	case map[string]any:
		switch {
		case !known || !holds(place, schema.Object, schema.Map):
			return errReference
		case place.Strategy&schema.Replace != 0 && value["$patch"] == nil:
			live[name], _ = cleaned(value)
		default:
			live[name], err = referenceMap(old.(map[string]any), value, place.Type)
		}
	case []any:
		if !known || !holds(place, schema.List) {
			return errReference
		}
		live[name], err = mergedList(old.([]any), value, place)
	default:
		live[name] = value
	}
	return err
}

// holds reports whether values of a place may have one of these shapes: merging into another one is recursing into
// fields that the type doesn't have.
func holds(place schema.Place, shapes ...schema.Shape) bool {
	return place.Type == nil || place.Type.Shape == schema.Any || slices.Contains(shapes, place.Type.Shape)
}

func sameType(a, b any) bool {
	return jsonType(a) == jsonType(b)
}

func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	default:
		return "number"
	}
}

// cleaned is a new value: without nulls and directives, and nothing at all when it is marked (rule 13); marked with
// replace it is what it says.
func cleaned(value any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		switch mark := value["$patch"]; mark {
		case nil:
		case "replace":
			return literal(value), true
		default:
			return nil, false
		}
		out := map[string]any{}
		for key, field := range value {
			if fresh, keep := cleaned(field); keep && field != nil && !directiveKey(key) {
				out[key] = fresh
			}
		}
		return out, true
	case []any:
		out := []any{}
		for _, element := range value {
			fields, _ := element.(map[string]any)
			if fields["$patch"] != nil {
				continue
			}
			fresh, _ := cleaned(element)
			out = append(out, fresh)
		}
		return out, true
	default:
		return value, true
	}
}

// literal is a value that replaces: with its nulls, but never with a directive.
func literal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range value {
			fields, _ := field.(map[string]any)
			if mark := fields["$patch"]; directiveKey(key) || mark != nil && mark != "replace" {
				continue
			}
			out[key] = literal(field)
		}
		return out
	case []any:
		out := []any{}
		for _, element := range value {
			fields, _ := element.(map[string]any)
			if fields["$patch"] == nil {
				out = append(out, literal(element))
			}
		}
		return out
	default:
		return value
	}
}

func directiveKey(key string) bool {
	name, _, _ := strings.Cut(key, "/")
	return key == "$patch" || key == "$retainKeys" || name == "$deleteFromPrimitiveList" || name == "$setElementOrder"
}
