package edit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/yaml"
)

// editsOf returns the edits of a resource that has one field, it.
func editsOf(schema, value string) []Edit {
	w := &walker{sample: wholeNumbers(object("%s", value)).(map[string]any), frozen: frozen{}}
	resource := &location{schema: map[string]any{"type": "object", "properties": map[string]any{"it": wholeNumbers(object("%s", schema))}}}
	w.visit(resource.field("it"), true)
	return w.edits
}

// wholeNumbers makes integers of numbers, as a cluster does.
func wholeNumbers(value any) any {
	switch value := value.(type) {
	case float64:
		return asNumber(map[string]any{"type": "number"}, value)
	case map[string]any:
		for key, field := range value {
			value[key] = wholeNumbers(field)
		}
	case []any:
		for i, item := range value {
			value[i] = wholeNumbers(item)
		}
	}
	return value
}

func namesOf(all []Edit) (names []string) {
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names
}

func TestEdges(t *testing.T) {
	for _, row := range []struct {
		reason, schema, value string
		want                  []string
	}{
		{"minimum and maximum", "{type: integer, minimum: 1, maximum: 9}", "it: 5", []string{"it: 6", "it: 1", "it: 9", "it left out"}},
		{"a large maximum may be a number of objects", "{type: integer, maximum: 65535}", "it: 5", []string{"it: 6", "it left out"}},
		{"an edge is tried once", "{type: integer, minimum: 5, maximum: 6}", "it: 5", []string{"it: 6", "it left out"}},
		{"shortest and longest", "{type: string, minLength: 2, maxLength: 4}", "it: abc", []string{`it: "abcx"`, `it: "xx"`, `it: "xxxx"`, "it left out"}},
		{"by a pattern", "{type: string, pattern: '^[a-z]+$', maxLength: 4}", "it: abc", []string{`it: "abcx"`, `it: "a"`, `it: "aaaa"`, "it left out"}},
		{"each enumerated value", "{type: string, enum: [a, b, c]}", "it: b", []string{`it: "a"`, `it: "c"`, "it left out"}},
		{"null", "{type: boolean, nullable: true}", "it: true", []string{"it: false", "it left out", "it: null"}},
		{"what is absent isn't left out", "{type: boolean}", "other: 1", []string{"it: true"}},
		{"another value than the default", "{type: boolean, default: true}", "other: 1", []string{"it: false"}},
		{"a long value is shortened in the name", "{type: string, minLength: 50}", "it: a", []string{`it: "xxxxxxxx...", 50 characters`, "it left out"}},
	} {
		t.Run("explore 21: "+row.reason, func(t *testing.T) { assert.Equal(t, row.want, namesOf(editsOf(row.schema, row.value))) })
	}
}

func object(text string, args ...any) (content map[string]any) {
	if err := yaml.Unmarshal(fmt.Appendf(nil, text, args...), &content); err != nil {
		panic(err)
	}
	return content
}
