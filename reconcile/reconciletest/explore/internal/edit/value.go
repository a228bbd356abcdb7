package edit

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"unicode/utf8"
)

// another returns another valid value of a scalar than the present one, and false if there is none or none is found.
// The other value isn't one of those that are taken.
func another(schema map[string]any, present any, taken ...any) (value any, can bool) {
	for _, value := range valuesFor(schema, present) {
		if fits(schema, value) && value != present && !slices.Contains(taken, value) {
			return value, true
		}
	}
	return nil, false
}

// valuesFor returns values that may be valid, the best ones first.
func valuesFor(schema map[string]any, present any) []any {
	if values, is := schema["enum"].([]any); is {
		return values
	}
	text, isText := present.(string)
	switch {
	case schema["type"] == "boolean":
		return []any{true, false}
	case schema["type"] == "integer", schema["type"] == "number":
		return numbers(schema, present)
	case schema["type"] == "string", schema[intOrString] == true && isText:
		return stringsLike(schema, text)
	case schema[intOrString] == true:
		return append(numbers(schema, present), stringsLike(schema, "")...)
	}
	return nil
}

// fits reports whether a scalar is valid by its schema, except for its format.
func fits(schema map[string]any, value any) bool {
	if schema[validations] != nil || !isScalar(value) {
		return false // rules in CEL aren't evaluated
	}
	if values, is := schema["enum"].([]any); is && !slices.Contains(values, value) {
		return false
	}
	if text, is := value.(string); is {
		length := utf8.RuneCountInString(text)
		pattern, patterned := schema["pattern"].(string)
		if patterned {
			matched, err := regexp.MatchString(pattern, text)
			patterned = err != nil || !matched
		}
		return !patterned && length >= countOf(schema["minLength"], 0) && length <= countOf(schema["maxLength"], math.MaxInt)
	}
	number, is := numberOf(value)
	return !is || inRange(schema, number)
}

// fresh returns a valid value with as little in it as possible, and false if none is found.
func fresh(schema map[string]any) (value any, can bool) {
	if schema[validations] != nil {
		return nil, false
	}
	if preset, has := schema["default"]; has {
		return preset, true
	}
	switch shapeOf(schema) {
	case scalarField:
		return another(schema, nil)
	case objectField:
		return freshObject(schema)
	case listField:
		return filled(schema, nil, countOf(schema["minItems"], 0))
	case mapField:
		return freshMap(schema)
	}
	return nil, false
}

// freshObject returns an object with its required fields, and with as many others as it needs.
func freshObject(schema map[string]any) (any, bool) {
	made := map[string]any{}
	for _, name := range stringsOf(schema["required"]) {
		value, can := fresh(propertyOf(schema, name))
		if !can {
			return nil, false
		}
		made[name] = value
	}
	least := countOf(schema["minProperties"], 0)
	for _, name := range slices.Sorted(maps.Keys(propertiesOf(schema))) {
		if len(made) >= least {
			break
		}
		if value, can := fresh(propertyOf(schema, name)); can {
			made[name] = value
		}
	}
	return made, len(made) >= least && len(made) <= countOf(schema["maxProperties"], math.MaxInt)
}

func freshMap(schema map[string]any) (any, bool) {
	made := map[string]any{}
	for n := range countOf(schema["minProperties"], 0) {
		value, can := fresh(entriesOf(schema))
		if !can || n > most {
			return nil, false
		}
		made[fmt.Sprintf("key%d", n+1)] = value
	}
	return made, len(made) <= countOf(schema["maxProperties"], math.MaxInt)
}

// most is how many items or entries a generated value has at most.
const most = 10

// filled returns a list with more items, so that it has a given number of them.
func filled(schema map[string]any, items []any, count int) (any, bool) {
	if count > min(most, countOf(schema["maxItems"], most)) {
		return nil, false
	}
	items = slices.Clone(items)
	for len(items) < count {
		item, can := further(schema, items)
		if !can {
			return nil, false
		}
		items = append(items, item)
	}
	if items == nil {
		items = []any{}
	}
	return items, true
}

func containsEqual(items []any, value any) bool {
	return slices.ContainsFunc(items, func(item any) bool { return reflect.DeepEqual(item, value) })
}
