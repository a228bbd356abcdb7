package rule_test

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var example = rule.Set{{Path: "spec.size", CEL: "self >= oldSelf", Message: "a shop can't shrink", Class: rule.Forbidden}}

// The rules in the definition of a kind.
func ExampleSet_AddTo() {
	var definition unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(`
metadata: {name: shops.example.com}
spec: {versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: {properties: {size: {type: integer}}}}}}}]}
`), &definition.Object); err != nil {
		fmt.Println(err)
		return
	}
	ruled, err := example.AddTo(&definition, "v1")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := yaml.Marshal(ruled.Object["spec"])
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// versions:
	// - name: v1
	//   schema:
	//     openAPIV3Schema:
	//       properties:
	//         spec:
	//           properties:
	//             size:
	//               type: integer
	//               x-kubernetes-validations:
	//               - message: a shop can't shrink
	//                 reason: FieldValueForbidden
	//                 rule: self >= oldSelf
	// <nil>
}

// The rules in a policy, for a kind of somebody else.
func ExampleSet_Policy() {
	replicas := rule.Set{{Path: "spec.replicas", CEL: "self <= 9", Message: "at most 9"}}
	policy, binding, err := replicas.Policy(rule.Policy{
		Name: "few-replicas", Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.Spec.Validations[0].Message, binding.Spec.ValidationActions)
	// Output: spec.replicas: at most 9 [Deny]
}

// All mistakes at once.
func ExampleSet_Validate() {
	fmt.Println(rule.Set{{Path: "spec[0]", CEL: "self > 0"}}.Validate())
	// Output:
	// rule 1 (self > 0): path "spec[0]": "[0]": use [*] for the elements of a list, and {*} for the values of a map
	// rule 1 (self > 0): no message: say what must hold
}
