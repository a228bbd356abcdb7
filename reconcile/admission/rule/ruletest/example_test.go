package ruletest_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/admission/rule/ruletest"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shopRules are the rules of the examples.
var shopRules = rule.Set{
	{Path: "spec.size", CEL: "self >= oldSelf", Message: "a shop can't shrink", Class: rule.Forbidden},
	{Path: "spec.ports[*]", CEL: "has(self.number) && self.number > 0", Message: "a port needs a number"},
}

// checkShops is a test of rules in a definition.
func checkShops(t testing.TB) {
	rules := ruletest.FromFile(t, shopRules, "testdata/shops.yaml")
	small, large := shop(map[string]any{"size": 1}), shop(map[string]any{"size": 2})

	rules.AcceptsCreate(t, small)
	rules.AcceptsUpdate(t, small, large)
	rules.RefusesUpdate(t, large, small, "spec.size: a shop can't shrink")
	rules.RefusesCreate(t, shop(map[string]any{"ports": []any{map[string]any{"name": "web"}}}), "spec.ports[0]: a port needs a number")
}

// checkPolicy is a test of rules in a policy.
func checkPolicy(t testing.TB) {
	rules := ruletest.NewPolicy(t, shopRules, shops)
	rules.RefusesUpdate(t, shop(map[string]any{"size": 2}), shop(map[string]any{"size": 1}), "a shop can't shrink")
}

// console prints what a test reports.
type console struct{ testing.TB }

func (console) Helper()                           {}
func (console) Error(args ...any)                 { fmt.Println(args...) }
func (console) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (console) Fatal(args ...any)                 { fmt.Println(args...) }
func (console) Log(args ...any)                   { fmt.Println(args...) }
func (console) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }

// A test of rules that are in the definition of a kind. In a real test, t is the *testing.T.
func ExampleFromFile() {
	var t console
	checkShops(t)

	rules := ruletest.FromFile(t, shopRules, "testdata/shops.yaml")
	rules.AcceptsUpdate(t, shop(map[string]any{"size": 2}), shop(map[string]any{"size": 1}))
	// Output:
	// the object should break no rule, but it is refused:
	//   spec.size: a shop can't shrink
}

// A test of rules that are in a policy.
func ExampleNewPolicy() {
	var t console
	checkPolicy(t)

	rules := ruletest.NewPolicy(t, shopRules, shops)
	rules.RefusesCreate(t, shop(map[string]any{"ports": []any{map[string]any{"number": 80}}}), "a port needs a number")
	// Output:
	// no broken rule has the text "a port needs a number", the object is accepted
}

// The definition may also be an object, such as one that a program generates.
func ExampleNew() {
	var t console
	definition, err := ruletest.Read("testdata/shops.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	rules := ruletest.New(t, shopRules, definition, ruletest.Versions("v1"))
	rules.AcceptsCreate(t, shop(map[string]any{"size": 1, "sise": 2}))
	// Output:
	// warning: unknown field "spec.sise"
}

// All mistakes are reported at once, before anything is installed.
func ExampleCompileDefinition() {
	definition, err := ruletest.Read("testdata/shops.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = ruletest.CompileDefinition(rule.Set{
		{Path: "spec.size", CEL: "self % 10", Message: "a multiple of ten"},
		{Path: "spec.texts", CEL: "self.all(a, self.exists_one(b, a == b))", Message: "each text once"},
		{Path: "spec.note", CEL: "isSemver(self)", Message: "a version"},
	}, definition, ruletest.Kubernetes("1.31"))
	fmt.Println(err)
	// Output:
	// definition shops.example.com: rule 1: spec.size (self % 10): cel expression must evaluate to a bool
	// rule 2: spec.texts (self.all(a, self.exists_one(b, a == b))): estimated rule cost exceeds budget by factor of more than 100x: it is more than 100 times the limit for one rule: set maxItems of spec.texts, maxLength of spec.texts[*], or simplify the rule
	// spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)
	// rule 3: spec.note (isSemver(self)): Kubernetes 1.31 refuses it: compilation failed: ERROR: <input>:1:9: undeclared reference to 'isSemver' (in container '')
	//  | isSemver(self)
	//  | ........^
}

// What the API server estimates the rules to cost.
func ExampleDefinition_Costs() {
	definition, err := ruletest.Read("testdata/shops.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	shops, err := ruletest.CompileDefinition(append(shopRules, rule.Rule{
		Path: "spec.ports", CEL: "self.all(a, self.exists_one(b, a.name == b.name))", Message: "each name once",
	}), definition)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shops.Costs())
	for _, cost := range shops.Costs() {
		if cost.Share() > 0.5 {
			fmt.Println(cost.Rule.Path, cost.Advice)
		}
	}
	fmt.Println(shops.Costs().Total("v1") < ruletest.DefinitionLimit)
	// Output:
	// 1462 (0.0146% of the limit): spec.ports (self.all(a, self.exists_one(b, a.name ==...)
	// 40 (less than 0.001% of the limit): spec.ports[*] (has(self.number) && self.number > 0)
	// 3 (less than 0.001% of the limit): spec.size (self >= oldSelf)
	// 1505 (0.00151% of the limit): all rules of version v1
	// true
}

// The verdict on an update, for a build tool.
func ExampleDefinition_Update() {
	definition, err := ruletest.Read("testdata/shops.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	shops, err := ruletest.CompileDefinition(shopRules, definition)
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := shops.Update(shop(map[string]any{"size": 2}), shop(map[string]any{"size": 1}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verdict)
	for _, broken := range verdict.Broken {
		fmt.Println(broken.Rule.CEL, broken.Field, broken.Reason)
	}
	// Output:
	// refused:
	//   spec.size: a shop can't shrink
	// self >= oldSelf spec.size FieldValueForbidden
}

// The verdicts on a new object, and on a new status.
func ExampleDefinition_UpdateStatus() {
	definition, err := ruletest.Read("testdata/shops.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	shops, err := ruletest.CompileDefinition(rule.Set{{Path: "status.ready", CEL: "self >= 0", Message: "at least 0"}}, definition)
	if err != nil {
		fmt.Println(err)
		return
	}
	tea := shop(map[string]any{"size": 2})
	fmt.Println(shops.Create(tea))
	changed := shop(map[string]any{"size": 2})
	changed["status"] = map[string]any{"ready": -1}
	fmt.Println(shops.UpdateStatus(tea, changed))
	// Output:
	// accepted <nil>
	// refused:
	//   status.ready: at least 0 <nil>
}

// The verdict of a policy that warns, for the kind of somebody else.
func ExampleCompilePolicy() {
	policy := shops
	policy.Actions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
	policy.Objects = &metav1.LabelSelector{MatchLabels: map[string]string{"rules": "on"}}
	compiled, err := ruletest.CompilePolicy(rule.Set{{Path: "spec.size", CEL: "100 / self > 10", Message: "at most 9"}}, policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	tea := &unstructured.Unstructured{Object: shop(map[string]any{"size": 20})}
	fmt.Println(compiled.Create(tea))
	tea.SetLabels(map[string]string{"rules": "on"})
	fmt.Println(compiled.Create(tea))
	fmt.Println(compiled.Update(tea, tea))
	// Output:
	// accepted <nil>
	// accepted:
	//   spec.size: at most 9 <nil>
	// accepted:
	//   spec.size: at most 9 <nil>
}

// A policy that knows the definition of its kind evaluates objects with their defaults.
func ExampleSchema() {
	definition, err := ruletest.Read("testdata/shops.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	set := rule.Set{{Path: "spec", CEL: "has(self.mode)", Message: "a mode is needed"}}
	for _, opt := range []ruletest.Option{nil, ruletest.Schema(definition)} {
		policy, err := ruletest.CompilePolicy(set, shops, opt)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(policy.Create(shop(map[string]any{"size": 2})))
	}
	// Output:
	// refused:
	//   spec: a mode is needed <nil>
	// accepted <nil>
}
