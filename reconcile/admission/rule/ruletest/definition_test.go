package ruletest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		rule   rule.Rule
		says   string
	}{
		{"an unknown name", rule.Rule{Path: "spec.size", CEL: "sel > 1"}, "rule 2: spec.size (sel > 1): compilation failed: ERROR: <input>:1:1: undeclared reference to 'sel'"},
		{"a wrong type", rule.Rule{Path: "spec.size", CEL: "self > 'a'"}, "found no matching overload for '_>_' applied to '(int, string)'"},
		{"a result that is no bool", rule.Rule{Path: "spec.size", CEL: "self + 1"}, "rule 2: spec.size (self + 1): cel expression must evaluate to a bool"},
		{"a message that is no text", rule.Rule{Path: "spec.size", CEL: "self > 1", MessageCEL: "self"}, "messageExpression must evaluate to a string"},
		{"a message that may be long", rule.Rule{Path: "spec.texts", CEL: "self.size() > 1", MessageCEL: "self.map(a, self.map(b, a + b).join()).join()"},
			"estimated messageExpression cost exceeds budget by factor of more than 100x: it is more than 100 times the limit for one rule: set maxItems of spec.texts"},
		{"an unknown field", rule.Rule{Path: "spec", CEL: "self.sise > 1"}, "undefined field 'sise'"},
		{"null, which has no type", rule.Rule{Path: "spec", CEL: "self.note == null"}, "found no matching overload for '_==_' applied to '(string, null)'"},
		{"oldSelf of an element of a list that isn't a map", rule.Rule{Path: "spec.ports[*]", CEL: "self == oldSelf"}, "oldSelf cannot be used on the uncorrelatable portion of the schema"},
		{"a regular expression", rule.Rule{Path: "spec.mode", CEL: "self.matches('[')"}, "invalid matches argument"},
	} {
		t.Run("ruletest 2: "+row.reason+" is a mistake", func(t *testing.T) {
			t.Parallel()
			row.rule.Message = "m"
			_, err := ruletest.CompileDefinition(rule.Set{{Path: "spec.mode", CEL: "self != ''", Message: "m"}, row.rule}, shopsDefinition(t))
			assert.ErrorContains(t, err, row.says)
			assert.ErrorContains(t, err, "definition shops.example.com: ")
		})
	}
	t.Run("ruletest 2: all mistakes are one error, also beside those of the schema, and each names its version", func(t *testing.T) {
		t.Parallel()
		definition := shopsDefinition(t)
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		second := (&unstructured.Unstructured{Object: versions[0].(map[string]any)}).DeepCopy().Object
		second["name"], second["storage"] = "v2", false
		require.NoError(t, unstructured.SetNestedField(second, "number", "schema", "openAPIV3Schema", "properties", "spec", "properties", "size", "type"))
		require.NoError(t, unstructured.SetNestedField(second, "fast ", "schema", "openAPIV3Schema", "properties", "spec", "properties", "mode", "default"))
		require.NoError(t, unstructured.SetNestedSlice(definition.Object, append(versions, second), "spec", "versions"))
		_, err := ruletest.CompileDefinition(rule.Set{
			{Path: "spec.size", CEL: "self % 2 == 0", Message: "m"}, {Path: "spec", CEL: "self", Message: "m"},
		}, definition)
		assert.ErrorContains(t, err, "version v1: rule 2: spec (self): cel expression must evaluate to a bool")
		assert.ErrorContains(t, err, "version v2: rule 1: spec.size (self % 2 == 0): compilation failed")
		assert.ErrorContains(t, err, "version v2: rule 2: spec (self): cel expression must evaluate to a bool")
		assert.ErrorContains(t, err, `[mode].default: Unsupported value: "fast "`)
		assert.NotContains(t, err.Error(), "version v1: rule 1")

		_, err = ruletest.CompileDefinition(rule.Set{{Path: "spec.size", CEL: "self % 2 == 0", Message: "m"}}, shopsDefinition(t), ruletest.Versions("v9"))
		assert.EqualError(t, err, "definition shops.example.com: version v9: the definition doesn't have it")
	})
	t.Run("ruletest 2: a rule that only the definition has is named as one", func(t *testing.T) {
		t.Parallel()
		definition, err := rule.Set{{Path: "spec.size", CEL: "self", Message: "m"}}.AddTo(shopsDefinition(t))
		require.NoError(t, err)
		_, err = ruletest.CompileDefinition(nil, definition)
		assert.EqualError(t, err, "definition shops.example.com: a rule that only the definition has: spec.size (self): cel expression must evaluate to a bool")
	})
}

func TestCosts(t *testing.T) {
	t.Parallel()
	t.Run("ruletest 3: a rule that may cost too much is refused, with the limits to set", func(t *testing.T) {
		t.Parallel()
		_, err := ruletest.CompileDefinition(rule.Set{{Path: "spec.texts[*]", CEL: "self.contains(self)", Message: "m"}}, shopsDefinition(t))
		assert.ErrorContains(t, err, "set maxItems of spec.texts, maxLength of spec.texts[*], or simplify the rule")
		_, err = ruletest.CompileDefinition(rule.Set{{Path: "spec.numbers", CEL: "self.all(a, self.all(b, self.all(c, a + b > c)))", Message: "m"}}, shopsDefinition(t))
		assert.ErrorContains(t, err, "lower the limits of its lists, maps and texts, or simplify the rule")
	})
	t.Run("ruletest 3: all rules of a definition have a limit", func(t *testing.T) {
		t.Parallel()
		var set rule.Set
		for i := range 20 {
			set = append(set, rule.Rule{Path: "spec.numbers", CEL: "self.all(a, self.all(b, a + b >= -" + strings.Repeat("1", i%9+1) + strings.Repeat("0", i/9) + "))", Message: "m"})
		}
		_, err := ruletest.CompileDefinition(set[:9], shopsDefinition(t))
		require.NoError(t, err)
		_, err = ruletest.CompileDefinition(set, shopsDefinition(t))
		assert.ErrorContains(t, err, "estimated rule cost total for entire OpenAPIv3 schema exceeds budget")
		assert.ErrorContains(t, err, "rule 1: spec.numbers")
	})
	t.Run("ruletest 3: the estimate is what the API server's error is about", func(t *testing.T) {
		t.Parallel()
		// The API server says by what factor a rule exceeds the limit. A rule below the limit has the same estimate for
		// each element, so three times its elements cost three times as much.
		set := rule.Set{{Path: "spec.numbers", CEL: "self.all(a, self.all(b, a + b >= 0))", Message: "m"}}
		costs := compiled(t, set).Costs()
		require.Len(t, costs, 1)
		assert.Equal(t, costs[0].Estimate, costs.Total("v1"))
		assert.InDelta(t, 0.57, costs[0].Share(), 0.01)

		definition := shopsDefinition(t)
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		require.NoError(t, unstructured.SetNestedField(versions[0].(map[string]any), int64(2700),
			"schema", "openAPIV3Schema", "properties", "spec", "properties", "numbers", "maxItems"))
		require.NoError(t, unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions"))
		_, err := ruletest.CompileDefinition(set, definition)
		assert.ErrorContains(t, err, "exceeds budget by factor of 5.1x: it is 510% of the limit for one rule")
	})
}

func TestOlder(t *testing.T) {
	t.Parallel()
	set := rule.Set{{Path: "spec.note", CEL: "isSemver(self)", Message: "m"}}
	t.Run("ruletest 8: what an older API server doesn't know is reported, in both layers", func(t *testing.T) {
		t.Parallel()
		_, err := ruletest.CompileDefinition(set, shopsDefinition(t), ruletest.Kubernetes("1.33"))
		assert.ErrorContains(t, err, "rule 1: spec.note (isSemver(self)): Kubernetes 1.33 refuses it: compilation failed")
		_, err = ruletest.CompilePolicy(set, shops, ruletest.Kubernetes("1.33"))
		assert.ErrorContains(t, err, "rule 1: spec.note (isSemver(self)): Kubernetes 1.33 refuses it: compilation failed")
		_, err = ruletest.CompileDefinition(set, shopsDefinition(t), ruletest.Kubernetes("1.34"))
		assert.NoError(t, err)
		_, err = ruletest.CompilePolicy(set, shops, ruletest.Kubernetes("1.34"))
		assert.NoError(t, err)
	})
	for version, says := range map[string]string{"x": "use a version such as 1.33", "1.2": "use one from 1.30 to 1.37", "1.99": "use one from 1.30 to 1.37", "2.33": "use one"} {
		t.Run("ruletest 8: version "+version+" is a mistake", func(t *testing.T) {
			t.Parallel()
			_, err := ruletest.CompileDefinition(set, shopsDefinition(t), ruletest.Kubernetes(version))
			assert.ErrorContains(t, err, says)
			_, err = ruletest.CompilePolicy(set, shops, ruletest.Kubernetes(version))
			assert.ErrorContains(t, err, says)
		})
	}
}

func TestOther(t *testing.T) {
	t.Parallel()
	t.Run("ruletest 4: what isn't a definition is an error", func(t *testing.T) {
		t.Parallel()
		_, err := ruletest.CompileDefinition(nil, nil)
		assert.ErrorContains(t, err, "nil definition: pass a CustomResourceDefinition")
		_, err = ruletest.CompileDefinition(nil, &unstructured.Unstructured{Object: shop(nil)})
		assert.EqualError(t, err, "definition tea: it is a Shop of example.com/v1: pass a CustomResourceDefinition of apiextensions.k8s.io/v1")
		_, err = ruletest.CompileDefinition(rule.Set{{Path: "spec.sise", CEL: "self > 1", Message: "m"}}, shopsDefinition(t))
		assert.EqualError(t, err, "definition shops.example.com: version v1: the schema has no field spec.sise")
		_, err = ruletest.CompileDefinition(rule.Set{{Path: "spec..size", CEL: "self > 1", Message: "m"}}, shopsDefinition(t))
		assert.ErrorContains(t, err, "use names with dots between them")

		definition := shopsDefinition(t)
		require.NoError(t, unstructured.SetNestedField(definition.Object, "x", "spec", "skope"))
		_, err = ruletest.CompileDefinition(nil, definition)
		assert.ErrorContains(t, err, `unknown field "spec.skope"`)
		definition = shopsDefinition(t)
		require.NoError(t, unstructured.SetNestedField(definition.Object, "", "spec", "names", "kind"))
		definition.SetName("others.example.com")
		_, err = ruletest.CompileDefinition(nil, definition)
		assert.ErrorContains(t, err, `metadata.name: Invalid value: "others.example.com": must be spec.names.plural+"."+spec.group`)
		assert.ErrorContains(t, err, "spec.names.kind: Required value")
	})
	definition := compiled(t, nil)
	policy, err := ruletest.CompilePolicy(nil, shops)
	require.NoError(t, err)
	for _, row := range []struct {
		reason string
		object any
		says   string
	}{
		{"nil", nil, "nil object"},
		{"a nil Unstructured", (*unstructured.Unstructured)(nil), "nil object"},
		{"a text", "kind: Shop", "object is a string: pass an Unstructured, a map or a typed object"},
		{"a channel", make(chan int), "json: unsupported type: chan int"},
		{"no kind", map[string]any{"spec": nil}, "'Kind' is missing"},
		{"another kind", map[string]any{"apiVersion": "example.com/v1", "kind": "Store", "metadata": map[string]any{"name": "a"}}, "is about"},
		{"another group", map[string]any{"apiVersion": "v1", "kind": "Shop"}, "is about"},
	} {
		t.Run("ruletest 4: "+row.reason+" isn't an object of the kind", func(t *testing.T) {
			t.Parallel()
			good := shop(map[string]any{"size": 1})
			for _, ask := range []func() (ruletest.Verdict, error){
				func() (ruletest.Verdict, error) { return definition.Create(row.object) },
				func() (ruletest.Verdict, error) { return definition.Update(good, row.object) },
				func() (ruletest.Verdict, error) { return definition.Update(row.object, good) },
				func() (ruletest.Verdict, error) { return definition.UpdateStatus(row.object, good) },
				func() (ruletest.Verdict, error) { return policy.Create(row.object) },
				func() (ruletest.Verdict, error) { return policy.Update(good, row.object) },
				func() (ruletest.Verdict, error) { return policy.Update(row.object, good) },
			} {
				_, err := ask()
				assert.ErrorContains(t, err, row.says)
			}
		})
	}
	t.Run("ruletest 4: an object of a version that isn't served is an error", func(t *testing.T) {
		t.Parallel()
		object := shop(nil)
		object["apiVersion"] = "example.com/v9"
		_, err := definition.Create(object)
		assert.EqualError(t, err, "object tea of version v9: the definition serves v1")
	})
	t.Run("ruletest 4: metadata that can't be read is an error", func(t *testing.T) {
		t.Parallel()
		object := shop(nil)
		object["metadata"] = map[string]any{"name": "tea", "labels": "x"}
		_, err := definition.Create(object)
		assert.ErrorContains(t, err, "labels")
	})
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, content, says string
	}{
		{"no definition", "kind: Shop\n", "it has 0 definitions: use a file with one CustomResourceDefinition"},
		{"two definitions", "kind: CustomResourceDefinition\n---\nkind: CustomResourceDefinition\n", "it has 2 definitions"},
		{"no YAML", "{\n", "yaml"},
		{"nothing", "", "it has 0 definitions"},
	} {
		t.Run("ruletest 12: a file with "+row.reason+" is an error", func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "crd.yaml")
			require.NoError(t, os.WriteFile(file, []byte(row.content), 0o600))
			_, err := ruletest.Read(file)
			assert.ErrorContains(t, err, row.says)
			assert.ErrorContains(t, err, "crd.yaml")
		})
	}
	t.Run("ruletest 12: a file that isn't there is an error, and the definition among other documents is read", func(t *testing.T) {
		t.Parallel()
		_, err := ruletest.Read("nowhere.yaml")
		require.ErrorIs(t, err, os.ErrNotExist)
		definition, err := ruletest.Read(shopsFile)
		require.NoError(t, err)
		assert.Equal(t, "shops.example.com", definition.GetName())
	})
}
