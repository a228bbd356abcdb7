package edit

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// validator returns a function that reports whether a cluster with a definition accepts a value of spec.it.
func validator(t *testing.T, schema map[string]any) func(value any) error {
	t.Helper()
	definition := object(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.dev},
		spec: {group: example.dev, scope: Cluster, names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}, versions: [
			{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}]}}`)
	version := definition["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	require.NoError(t, unstructured.SetNestedMap(version, map[string]any{"it": schema}, "schema", "openAPIV3Schema", "properties", "spec", "properties"))
	cluster, err := dryrun.New(dryrun.Objects(&unstructured.Unstructured{Object: definition}))
	require.NoError(t, err)
	count := 0
	return func(value any) error {
		count++
		thing := &unstructured.Unstructured{Object: object("{apiVersion: example.dev/v1, kind: Thing, metadata: {name: thing-%d}}", count)}
		thing.Object["spec"] = map[string]any{"it": value}
		made, err := cluster.Port().Create(context.Background(), thing, deploy.CreateOptions{FieldManager: "test"})
		if err == nil && fmt.Sprint(made.Object["spec"].(map[string]any)["it"]) != fmt.Sprint(value) {
			return errors.New("the cluster prunes it, or fills it in")
		}
		return err
	}
}

func TestAnother(t *testing.T) {
	for _, row := range []struct {
		reason, schema string
		present, want  any
	}{
		{"a number near the present one", "{type: integer}", int64(2), int64(3)},
		{"the maximum is valid", "{type: integer, maximum: 3}", int64(2), int64(3)},
		{"above the maximum is not", "{type: integer, maximum: 2}", int64(2), int64(1)},
		{"nor an exclusive maximum", "{type: integer, maximum: 3, exclusiveMaximum: true}", int64(2), int64(1)},
		{"only one number is valid", "{type: integer, minimum: 2, maximum: 2}", int64(2), nil},
		{"a multiple", "{type: integer, multipleOf: 5}", int64(10), int64(15)},
		{"without a present number it is near the minimum", "{type: integer, minimum: 1024}", nil, int64(1025)},
		{"between exclusive edges", "{type: number, minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true}", nil, 1.0 / 128},
		{"the largest of 32 bits", "{type: integer, format: int32}", int64(2147483647), int64(2147483646)},
		{"false after true", "{type: boolean}", true, false},
		{"true after nothing", "{type: boolean}", nil, true},
		{"an enumerated value", "{type: string, enum: [a, b]}", "a", "b"},
		{"only one enumerated value", "{type: string, enum: [a]}", "a", nil},
		{"the last number counts on, since a text may be a quantity", "{type: string}", "10Gi", "11Gi"},
		{"or a version", "{type: string}", "postgres:18", "postgres:19"},
		{"a text without numbers gets longer", "{type: string}", "tea", "teax"},
		{"unless it must not", "{type: string, maxLength: 3}", "tea", "x"},
		{"a pattern", "{type: string, pattern: '^[a-z]{3}-(red|blue)$'}", nil, "aaa-red"},
		{"a pattern that the present value shows how to match", "{type: string, pattern: '^https?://.+'}", "https://a", "https://ax"},
		{"a pattern that nothing matches", "{type: string, pattern: 'a^'}", nil, nil},
		{"a format", "{type: string, format: date-time}", nil, "2030-01-01T00:00:00Z"},
		{"another value of a format", "{type: string, format: date-time}", "2030-01-01T00:00:00Z", "2031-02-03T04:05:06Z"},
		{"an unknown format doesn't restrict", "{type: string, format: colour}", "red", "redx"},
		{"an integer or a string stays a string", "{x-kubernetes-int-or-string: true}", "25%", "26%"},
		{"or an integer", "{x-kubernetes-int-or-string: true}", int64(1), int64(2)},
		{"rules aren't evaluated", "{type: string, x-kubernetes-validations: [{rule: 'self.size() > 3'}]}", "long", nil},
	} {
		t.Run("explore 20: "+row.reason, func(t *testing.T) {
			schema := object("%s", row.schema)
			value, can := another(schema, row.present)
			require.Equal(t, row.want != nil, can, "%v", value)
			if can {
				assert.Equal(t, row.want, value)
				assert.NoError(t, validator(t, schema)(value))
			}
		})
	}
}

func TestFormats(t *testing.T) {
	for format, values := range formats {
		t.Run("explore 20: both values have the format "+format, func(t *testing.T) {
			schema := map[string]any{"type": "string", "format": format}
			for _, value := range values {
				assert.NoError(t, validator(t, schema)(value))
			}
			assert.NotEqual(t, values[0], values[1])
		})
	}
	t.Run("explore 20: the cluster checks formats", func(t *testing.T) {
		assert.Error(t, validator(t, object("{type: string, format: ipv4}"))("nothing"))
	})
}

func TestFresh(t *testing.T) {
	for _, row := range []struct{ reason, schema, want string }{
		{"required fields and no others", "{type: object, required: [a], properties: {a: {type: integer}, b: {type: string}}}", "it: {a: 1}"},
		{"a default", "{type: object, default: {b: 3}, properties: {b: {type: integer}}}", "it: {b: 3}"},
		{"as many items as there must be, without equal ones", "{type: array, minItems: 2, x-kubernetes-list-type: set, items: {type: string}}", "it: [x, xx]"},
		{"items whose keys differ", "{type: array, minItems: 2, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}",
			"it: [{k: x}, {k: xx}]"},
		{"as many entries as there must be", "{type: object, minProperties: 2, additionalProperties: {type: boolean}}", "it: {key1: true, key2: true}"},
		{"as many optional fields as there must be", "{type: object, minProperties: 1, properties: {a: {type: integer}, b: {type: string}}}", "it: {a: 1}"},
		{"nothing if a required field has rules", "{type: object, required: [a], properties: {a: {type: integer, x-kubernetes-validations: [{rule: self > 5}]}}}", ""},
		{"nothing if its schema says nothing", "{type: object, x-kubernetes-preserve-unknown-fields: true}", ""},
		{"nothing if it needs too many items", "{type: array, minItems: 1000, items: {type: string}}", ""},
	} {
		t.Run("explore 20: "+row.reason, func(t *testing.T) {
			schema := object("%s", row.schema)
			value, can := fresh(schema)
			require.Equal(t, row.want != "", can, "%v", value)
			if can {
				assert.Equal(t, fmt.Sprint(object("%s", row.want)["it"]), fmt.Sprint(value))
				assert.NoError(t, validator(t, schema)(value))
			}
		})
	}
}
