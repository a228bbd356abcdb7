package rule_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var shops = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		rule   rule.Rule
		says   string
	}{
		{"no expression", rule.Rule{Message: "m"}, "no expression"},
		{"no message", rule.Rule{CEL: "true"}, "rule 1 (true): no message"},
		{"a message of two lines", rule.Rule{CEL: "true", Message: "a\nb"}, "several lines"},
		{"an empty name in the path", rule.Rule{Path: "spec..a", CEL: "true", Message: "m"}, `path "spec..a": use names with dots`},
		{"an index in the path", rule.Rule{Path: "spec.a[0]", CEL: "true", Message: "m"}, `"[0]": use [*]`},
		{"a class that doesn't exist", rule.Rule{CEL: "true", Message: "m", Class: "Bad"}, `unknown class "Bad"`},
		{"Created without an old value", rule.Rule{CEL: "self.a > 1", Message: "m", Created: true}, "has no oldSelf"},
		{"Created with the name in a text only", rule.Rule{CEL: `self.a != "oldSelf"`, Message: "m", Created: true}, "has no oldSelf"},
	} {
		t.Run("admission 20: "+row.reason+" is a mistake", func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, rule.Set{row.rule}.Validate(), row.says)
		})
	}
}

// definition is a definition of shops.
func definition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	var d unstructured.Unstructured
	require.NoError(t, yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  versions:
  - name: v1
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: "has(self.size)", message: old}], properties: {
      size: {type: integer}, ports: {type: array, items: {type: object, properties: {number: {type: integer}}}}, parts: {type: object, additionalProperties: {type: string}}}}}}}
  - name: v2
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
`), &d.Object))
	return &d
}

func TestAddTo(t *testing.T) {
	t.Parallel()
	rules := rule.Set{
		{CEL: "has(self.spec)", Message: "a spec is needed", Class: rule.Required},
		{Path: "spec", CEL: "has(self.size)", Message: "new"},
		{Path: "spec.ports[*].number", CEL: "self > 0", MessageCEL: "'got ' + string(self)"},
		{Path: "spec.parts{*}", CEL: "self != ''", Message: "m"},
		{Path: "spec.size", CEL: "oldSelf.hasValue()", Message: "m", Created: true},
	}
	t.Run("admission 21: rules stand at the schemas of their fields, and a rule of the same text is replaced", func(t *testing.T) {
		t.Parallel()
		before := definition(t)
		changed, err := rules.AddTo(before, "v1")
		require.NoError(t, err)
		versions, _, _ := unstructured.NestedSlice(changed.Object, "spec", "versions")
		schema, err := yaml.Marshal(versions[0].(map[string]any)["schema"])
		require.NoError(t, err)
		assert.YAMLEq(t, `
openAPIV3Schema:
  type: object
  x-kubernetes-validations: [{rule: has(self.spec), message: a spec is needed, reason: FieldValueRequired}]
  properties:
    spec:
      type: object
      x-kubernetes-validations: [{rule: has(self.size), message: new}]
      properties:
        size: {type: integer, x-kubernetes-validations: [{rule: oldSelf.hasValue(), message: m, optionalOldSelf: true}]}
        ports: {type: array, items: {type: object, properties: {number: {type: integer, x-kubernetes-validations: [{rule: self > 0, messageExpression: "'got ' + string(self)"}]}}}}
        parts: {type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self != ''", message: m}]}}
`, string(schema))
		assert.Equal(t, definition(t), before, "the definition that was passed stays")
		again, err := rules.AddTo(changed, "v1")
		require.NoError(t, err)
		assert.Equal(t, changed, again, "adding the same again changes nothing")
	})
	t.Run("admission 21: all that a definition doesn't have is one error", func(t *testing.T) {
		t.Parallel()
		_, err := rules.AddTo(definition(t), "v2", "v3")
		assert.EqualError(t, err, `definition shops.example.com: version v2: the schema has no field spec.ports[*].number
version v2: the schema has no field spec.parts{*}
version v2: the schema has no field spec.size
version v3: the definition doesn't have it`)
		_, err = rules.AddTo(&unstructured.Unstructured{Object: map[string]any{"kind": "Shop"}})
		assert.ErrorContains(t, err, "is it a CustomResourceDefinition")
	})
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason              string
		rule                rule.Rule
		expression, message string
	}{
		{"the whole object", rule.Rule{CEL: "has(self.spec)", Message: "m"}, "[object].all(self, has(self.spec))", "m"},
		{"a field that may be absent", rule.Rule{Path: "spec.size", CEL: "self > 0", Message: "m"},
			"(!has(object.spec) || object.spec == null || (!has(object.spec.size) || object.spec.size == null || [object.spec.size].all(self, self > 0)))", "spec.size: m"},
		{"elements", rule.Rule{Path: "a[*]", CEL: "self > 0", Message: "m"}, "(!has(object.a) || object.a == null || object.a.all(e0, [e0].all(self, self > 0)))", "a[*]: m"},
		{"values of a map", rule.Rule{Path: "a{*}", CEL: "self > 0", Message: "m"}, "(!has(object.a) || object.a == null || object.a.all(k0, [object.a[k0]].all(self, self > 0)))", "a{*}: m"},
		{"a name that CEL can't write", rule.Rule{Path: "x-y", CEL: "self > 0", Message: "m"}, `(!("x-y" in object) || object["x-y"] == null || [object["x-y"]].all(self, self > 0))`, "x-y: m"},
		{"an update", rule.Rule{Path: "a", CEL: "self >= oldSelf", Message: "m"},
			"oldObject == null || (!has(oldObject.a) || oldObject.a == null || [oldObject.a].all(oldSelf, (!has(object.a) || object.a == null || [object.a].all(self, self >= oldSelf))))", "a: m"},
		{"an update or a creation", rule.Rule{CEL: "oldSelf.hasValue()", Message: "m", Created: true},
			"[oldObject == null ? optional.none() : optional.of(oldObject)].all(oldSelf, [object].all(self, oldSelf.hasValue()))", "m"},
	} {
		t.Run("admission 22: "+row.reason+" in a policy", func(t *testing.T) {
			t.Parallel()
			policy, binding, err := rule.Set{row.rule}.Policy(rule.Policy{Name: "p", Kind: shops, Resource: "shops"})
			require.NoError(t, err)
			assert.Equal(t, row.expression, policy.Spec.Validations[0].Expression)
			assert.Equal(t, row.message, policy.Spec.Validations[0].Message)
			assert.Equal(t, "p", binding.Spec.PolicyName)
		})
	}
	for says, one := range map[string]rule.Rule{
		"move the rule to the list":                 {Path: "a[*]", CEL: "self >= oldSelf", Message: "m"},
		"the message of a policy can't use oldSelf": {Path: "a", CEL: "self > 0", MessageCEL: "string(oldSelf)"},
		"can't compose a message about an element":  {Path: "a[*]", CEL: "self > 0", MessageCEL: "string(self)"},
		"no expression":                             {Path: "a", Message: "m"},
	} {
		t.Run("admission 22: a policy reports: "+says, func(t *testing.T) {
			t.Parallel()
			_, _, err := rule.Set{one}.Policy(rule.Policy{Name: "p", Kind: shops, Resource: "shops"})
			assert.ErrorContains(t, err, says)
		})
	}
}
