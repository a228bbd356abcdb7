package edit

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// schemaBy returns a schema that follows from chance.
func schemaBy(random *rand.Rand, depth int) map[string]any {
	leaves := []string{
		"{type: boolean}", "{type: string}", "{type: string, enum: [a, b, c]}", "{type: string, minLength: %[1]d, maxLength: %[2]d}",
		"{type: string, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: %[2]d}", "{type: string, pattern: '^(\\d+[smh]){%[1]d,%[2]d}$'}",
		"{type: string, pattern: '[A-F]{%[1]d}', minLength: %[1]d}", "{type: string, format: ipv6}", "{type: string, format: date}",
		"{type: integer, minimum: -%[1]d, maximum: %[2]d}", "{type: integer, minimum: %[1]d, maximum: %[2]d, exclusiveMinimum: true}",
		"{type: integer, multipleOf: %[2]d}", "{type: number, minimum: 0.5, maximum: %[2]d, exclusiveMaximum: true}", "{x-kubernetes-int-or-string: true}",
		"{type: integer, minimum: %[1]d, maximum: %[2]d, multipleOf: 3}", "{type: number, multipleOf: 0.25, maximum: %[2]d}",
	}
	low := random.IntN(4)
	high := low + 1 + random.IntN(5)
	next := func() map[string]any { return schemaBy(random, depth-1) }
	switch choice := random.IntN(len(leaves) + 6); {
	case choice < len(leaves) || depth == 0:
		return object(leaves[choice%len(leaves)]+"# %[1]d %[2]d", low, high)
	case choice%3 == 0:
		return map[string]any{"type": "array", "items": next(), "minItems": int64(low), "maxItems": int64(high)}
	case choice%3 == 1:
		return map[string]any{"type": "object", "additionalProperties": next(), "minProperties": int64(low), "maxProperties": int64(high)}
	}
	return map[string]any{"type": "object", "required": []any{"a", "b"}, "properties": map[string]any{"a": next(), "b": next(), "c": next()}}
}

// checkSchema checks all values that are generated for a schema, and returns how many they are.
func checkSchema(t *testing.T, schema map[string]any) (count int) {
	t.Helper()
	check := validator(t, schema)
	value, can := fresh(schema)
	if !can {
		return 0
	}
	require.NoError(t, check(value), "fresh: %v of %v", value, schema)
	w := &walker{sample: map[string]any{"it": value}, frozen: frozen{}}
	resource := &location{schema: map[string]any{"type": "object", "properties": map[string]any{"it": schema}}}
	w.visit(resource.field("it"), false)
	for _, one := range append(w.edits, pairs(w.edits)...) {
		after := &unstructured.Unstructured{Object: map[string]any{"it": value}}
		after = after.DeepCopy()
		one.Do(after)
		require.NoError(t, check(after.Object["it"]), "%s: %v of %v", one.Name, after.Object["it"], schema)
		assert.Subset(t, fieldsBelow(schema, "it"), one.Paths, one.Name)
	}
	return 1 + len(w.edits)
}

func TestGeneratedSchemas(t *testing.T) {
	t.Run("explore 20: each value and each edit is valid by its schema", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 1))
		count := 0
		for range 150 {
			count += checkSchema(t, schemaBy(random, 3))
		}
		assert.Greater(t, count, 300, "most schemas have values and edits")
	})
}

func FuzzValue(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { checkSchema(t, schemaBy(rand.New(rand.NewPCG(a, b)), 4)) })
}

func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{`^[a-z]+$`, `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$`, `\bx{3,}`, `(?i)ab|c?`, `[^\x00-\x{10FFFF}]`, `(((x?)*)*)*`} {
		f.Add(pattern)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		schema := map[string]any{"type": "string", "pattern": pattern}
		if value, can := another(schema, nil); can {
			assert.True(t, fits(schema, value), "%q", value)
		}
		if value, can := longestString(map[string]any{"type": "string", "pattern": pattern, "maxLength": int64(20)}); can {
			assert.LessOrEqual(t, len([]rune(value)), 20)
		}
	})
}
