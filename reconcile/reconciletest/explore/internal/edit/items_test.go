package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestItems(t *testing.T) {
	keyed := "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, size: {type: integer}}}}"
	for _, row := range []struct {
		reason, schema, value string
		want                  []string
		edit, after           string // what an edit makes of the value
	}{
		{"the first item of an absent list", "{type: array, items: {type: string}}", "other: 1", []string{"it: item added"}, "it: item added", "{other: 1, it: [x]}"},
		{"an item more, one less, two swapped, none, and another first one", "{type: array, items: {type: string}}", "it: [a, b]",
			[]string{"it: item added", "it: last item removed", "it: first items swapped", "it: 0 items", `it[0]: "ax"`, "it left out"}, "it: first items swapped", "it: [b, a]"},
		{"no more than are valid", "{type: array, maxItems: 1, minItems: 1, items: {type: boolean}}", "it: [true]", []string{"it[0]: false", "it left out"}, "it[0]: false", "it: [false]"},
		{"items of a set differ", "{type: array, x-kubernetes-list-type: set, items: {type: string, enum: [a, b, c]}}", "it: [a, b]",
			[]string{"it: item added", "it: last item removed", "it: first items swapped", "it: 0 items", `it[0]: "c"`, "it left out"}, "it: item added", "it: [a, b, c]"},
		{"as many as are valid", "{type: array, maxItems: 4, items: {type: integer}}", "it: [1]",
			[]string{"it: item added", "it: last item removed", "it: 4 items", "it[0]: 2", "it left out"}, "it: 4 items", "it: [1, 2, 3, 4]"},
		{"a new item is like the last one, with another key", keyed, "it: [{k: a, size: 3}]",
			[]string{"it: item added", "it: last item removed", `it[0].k: "ax"`, "it[0].size: 4", "it[0].size left out", "it left out"}, "it: item added", "it: [{k: a, size: 3}, {k: ax, size: 3}]"},
		{"keys differ", keyed, "it: [{k: a}, {k: ax}]", nil, `it[0].k: "x"`, "it: [{k: x}, {k: ax}]"},
		{"the first entry of an absent map", "{type: object, additionalProperties: {type: integer}}", "other: 1", []string{"it: entry key added"}, "it: entry key added", "{other: 1, it: {key: 1}}"},
		{"an entry more, one less, another value", "{type: object, additionalProperties: {type: integer}}", "it: {a: 1, b: 2}",
			[]string{"it: entry bx added", "it: entry b removed", "it.a: 2", "it left out"}, "it: entry bx added", "it: {a: 1, b: 2, bx: 2}"},
		{"an object that isn't there", "{type: object, required: [a], properties: {a: {type: boolean}, b: {type: string}}}", "other: 1",
			[]string{"it: created", "it.a: true", `it.b: "x"`}, `it.b: "x"`, "{other: 1, it: {a: true, b: x}}"},
		{"a schema that says nothing", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "it: {a: 1}", nil, "", ""},
		{"an embedded resource", "{type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}", "it: {a: b}", nil, "", ""},
		{"of a Pod what is there, without the image",
			"{type: object, properties: {priority: {type: integer}, dnsPolicy: {type: string}, containers: {type: array, items: {type: object, properties: {image: {type: string}, name: {type: string, maxLength: 4}}}}}}",
			"it: {priority: 1, containers: [{image: a, name: b}]}", nil, "it.priority: 2", "it: {priority: 2, containers: [{image: a, name: b}]}"},
		{"a field named containers of its own", "{type: object, properties: {containers: {type: array, items: {type: string}}, size: {type: integer}}}", "it: {}",
			[]string{"it.containers: item added", "it.size: 1", "it left out"}, "it.size: 1", "it: {size: 1}"},
		{"enumerated values that aren't scalars", "{type: string, enum: [[a], [b], c]}", "it: [a]", []string{`it: "c"`, "it left out"}, `it: "c"`, "it: c"},
	} {
		t.Run("explore 22: "+row.reason, func(t *testing.T) {
			all := editsOf(row.schema, row.value)
			if row.want != nil || row.edit == "" {
				assert.Equal(t, row.want, namesOf(all))
			}
			at := slices.Index(namesOf(all), row.edit)
			require.Equal(t, row.edit != "", at >= 0, "%v", namesOf(all))
			if at >= 0 {
				resource := &unstructured.Unstructured{Object: object("%s", row.value)}
				all[at].Do(resource)
				assert.Equal(t, fmt.Sprint(object("%s", row.after)), fmt.Sprint(resource.Object))
			}
			assert.NotContains(t, strings.Join(namesOf(all), " "), "image")
			assert.NotContains(t, strings.Join(namesOf(all), " "), "dnsPolicy")
		})
	}
}
