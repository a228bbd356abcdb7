package ruletest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// schemaOf is the schema of the kinds that are compared.
const schemaOf = `
type: object
properties:
  metadata: {type: object, properties: {name: {type: string}}}
  spec:
    type: object
    properties:
      size: {type: integer}
      min: {type: integer}
      max: {type: integer, maximum: 9}
      ratio: {type: number}
      name: {type: string, maxLength: 20}
      mode: {type: string, enum: [fast, safe, odd], default: safe}
      paused: {type: boolean}
      quota: {x-kubernetes-int-or-string: true}
      memory: {type: string, maxLength: 20}
      at: {type: string, format: date-time}
      every: {type: string, format: duration}
      address: {type: string, maxLength: 50}
      range: {type: string, maxLength: 50}
      link: {type: string, maxLength: 100}
      note: {type: string, maxLength: 20, nullable: true}
      steps: {type: array, maxItems: 5, nullable: true, items: {type: integer, nullable: true}}
      notes: {type: object, maxProperties: 5, nullable: true, additionalProperties: {type: string, maxLength: 10, nullable: true}}
      ports: {type: array, maxItems: 5, items: {type: object, properties: {name: {type: string, maxLength: 10}, number: {type: integer}}}}
      tags: {type: array, maxItems: 5, items: {type: string, maxLength: 10}}
      parts: {type: object, maxProperties: 5, additionalProperties: {type: string, maxLength: 10}}
      inner: {type: object, properties: {deep: {type: object, nullable: true, properties: {value: {type: integer}}}}}
      text: {type: string, maxLength: 400000}
`

// without returns an expression that is expensive for a long text: it doesn't have any of thirty letters.
func without(text string) string {
	var terms []string
	for _, letter := range "abcdefghijklmnopqrstuvwxyz0123" {
		terms = append(terms, fmt.Sprintf("!%s.contains('%c')", text, letter))
	}
	return strings.Join(terms, " && ")
}

// compared are forty rules, of all forms.
func compared() rule.Set {
	r := func(path, cel string) rule.Rule { return rule.Rule{Path: path, CEL: cel} }
	created := func(path, cel string) rule.Rule { return rule.Rule{Path: path, CEL: cel, Created: true} }
	set := rule.Set{
		r("metadata.name", "self != 'probe'"),
		r("", "has(self.spec)"),
		r("", "!has(self.spec) || has(self.spec.size) || has(self.spec.min)"),
		r("", "self.spec == oldSelf.spec || self.spec.mode != 'odd'"),
		r("spec", "!has(self.min) || !has(self.max) || self.min <= self.max"),
		r("spec", "!has(self.mode) || self.mode != 'fast' || (has(self.size) && self.size > 2)"),
		r("spec", "!has(self.note) || dyn(self.note) != null"),
		r("spec", "has(self.paused) == has(oldSelf.paused)"),
		r("spec", "!has(self.inner) || !has(self.inner.deep) || dyn(self.inner.deep) == null || has(self.inner.deep.value)"),
		r("spec", "!has(self.text) || "+without("self.text")), // ends the rules of a definition if it costs too much
		r("spec.size", "self >= oldSelf"),
		r("spec.size", "self in [1, 2, 3, 5, 8]"),
		r("spec.min", "10 / self < 5"),
		r("spec.max", "self * 2 != 6"),
		r("spec.ratio", "double(self) * 2.0 < 9.0"),
		r("spec.name", "self.matches('^[a-z]+$')"),
		r("spec.name", "self.find('[0-9]+') == ''"),
		r("spec.name", "self.lowerAscii() == self && self.size() > 3"),
		created("spec.name", "oldSelf.hasValue() ? self == oldSelf.value() : self.startsWith('a')"),
		created("spec.mode", "!oldSelf.hasValue() || self == oldSelf.value()"),
		r("spec.paused", "!self"),
		r("spec.quota", "type(self) == int ? self < 100 : self.endsWith('%')"),
		r("spec.quota", "self > 5"),
		r("spec.memory", "isQuantity(self) && quantity(self).compareTo(quantity('1Gi')) <= 0"),
		r("spec.at", "timestamp(self).getFullYear() < 2030"),
		r("spec.every", "duration(self) >= duration('1m')"),
		r("spec.address", "isIP(self) && ip(self).family() == 4"),
		r("spec.range", "cidr('10.0.0.0/8').containsCIDR(self)"),
		r("spec.link", "isURL(self) && url(self).getScheme() == 'https'"),
		r("spec.note", "self != 'x'"),
		r("spec.steps", "self.all(s, dyn(s) == null || s > 0)"),
		r("spec.steps", "self[1] != 2"),
		r("spec.steps[*]", "self < 9"),
		r("spec.notes{*}", "self != 'x'"),
		r("spec.ports", "self.exists(p, has(p.name) && p.name == 'web')"),
		r("spec.ports[*]", "has(self.number)"),
		r("spec.ports[*].name", "self != ''"),
		r("spec.parts", "self.all(k, k != 'x')"),
		r("spec.parts{*}", "self in ['a', 'b']"),
		r("spec.inner.deep.value", "self != 3"),
	}
	for i := range set {
		set[i].Message = fmt.Sprintf("rule-%02d holds", i)
	}
	set[15].Message, set[15].MessageCEL = "", "'got ' + self"
	set[20].Class, set[35].Class = rule.Forbidden, rule.Required
	return set
}

// definitionOf is the definition of a kind with the schema.
func definitionOf(t *testing.T, kind schema.GroupVersionKind) *unstructured.Unstructured {
	t.Helper()
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(schemaOf), &content))
	plural := strings.ToLower(kind.Kind) + "s"
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": "Namespaced", "names": map[string]any{"kind": kind.Kind, "plural": plural},
			"versions": []any{map[string]any{"name": kind.Version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": content}}},
		},
	}}
}

// fields are the fields of a spec in their order, with what makes a value.
var fields = []struct {
	name string
	make func(r *rand.Rand) any
}{
	{"size", func(r *rand.Rand) any { return r.Int64N(10) }},
	{"min", func(r *rand.Rand) any { return r.Int64N(10) - 4 }},
	{"max", func(r *rand.Rand) any { return r.Int64N(11) }},
	{"ratio", func(r *rand.Rand) any { return some(r, int64(0), 0.25, 4.5, int64(5)) }},
	{"name", func(r *rand.Rand) any { return some(r, "", "abc", "abcd", "Abcde", "b1", "añb") }},
	{"mode", func(r *rand.Rand) any { return some(r, "fast", "safe", "odd") }},
	{"paused", func(r *rand.Rand) any { return some(r, true, false) }},
	{"quota", func(r *rand.Rand) any { return some(r, int64(5), int64(500), "5%", "7") }},
	{"memory", func(r *rand.Rand) any { return some(r, "1Gi", "2Gi", "300Mi", "1e3", "x") }},
	{"at", func(r *rand.Rand) any { return some(r, "2026-06-01T12:00:00+02:00", "2031-01-01T00:00:00Z") }},
	{"every", func(r *rand.Rand) any { return some(r, "30s", "1m", "1h30m", "-5s") }},
	{"address", func(r *rand.Rand) any { return some(r, "10.0.0.1", "::1", "010.0.0.1", "x") }},
	{"range", func(r *rand.Rand) any { return some(r, "10.1.0.0/16", "192.168.0.0/24", "x") }},
	{"link", func(r *rand.Rand) any { return some(r, "https://a.example/x?y=1", "http://a.example", "x") }},
	{"note", func(r *rand.Rand) any { return some(r, nil, "x", "y") }},
	{"steps", func(r *rand.Rand) any {
		return some(r, nil, []any{}, []any{int64(1), nil}, []any{int64(1), int64(2), int64(12)}, []any{nil, int64(-1)})
	}},
	{"notes", func(r *rand.Rand) any {
		return some(r, nil, map[string]any{}, map[string]any{"a": nil, "b": "x"}, map[string]any{"a": "y"})
	}},
	{"ports", func(r *rand.Rand) any {
		ports := []any{}
		for range r.IntN(4) {
			port := map[string]any{}
			if r.IntN(4) > 0 {
				port["number"] = some(r, int64(80), int64(443))
			}
			if r.IntN(2) > 0 {
				port["name"] = some(r, "web", "", "tls")
			}
			ports = append(ports, port)
		}
		return ports
	}},
	{"tags", func(r *rand.Rand) any { return some(r, []any{}, []any{"a", "long"}, []any{"b"}) }},
	{"parts", func(r *rand.Rand) any {
		return some(r, map[string]any{}, map[string]any{"x": "a"}, map[string]any{"y": "c", "z-w": "b"})
	}},
	{"inner", func(r *rand.Rand) any {
		return some(r, nil, map[string]any{}, map[string]any{"deep": nil}, map[string]any{"deep": map[string]any{}}, map[string]any{"deep": map[string]any{"value": int64(3)}})
	}},
	{"text", func(r *rand.Rand) any {
		return strings.Repeat("-", some(r, 1, 10, 10, 10, 400000).(int)) + some(r, "a", "-", "-").(string)
	}},
	{"unknown", func(*rand.Rand) any { return "pruned" }},
}

func some(r *rand.Rand, values ...any) any { return values[r.IntN(len(values))] }

// specOf returns a spec that breaks some rules, and sometimes the schema.
func specOf(r *rand.Rand) map[string]any {
	if r.IntN(50) == 0 {
		return nil
	}
	spec := map[string]any{}
	for _, one := range fields {
		if value := one.make(r); r.IntN(3) > 0 && (one.name != "text" || r.IntN(4) == 0) {
			spec[one.name] = value
		}
	}
	return spec
}

// changed returns a spec with some fields changed, set or removed.
func changed(r *rand.Rand, spec map[string]any) map[string]any {
	result := map[string]any{}
	if spec != nil {
		result = runtime.DeepCopyJSON(spec)
	}
	for range 1 + r.IntN(4) {
		one := fields[r.IntN(len(fields))]
		if result[one.name] = one.make(r); r.IntN(4) == 0 {
			delete(result, one.name)
		}
	}
	return result
}
