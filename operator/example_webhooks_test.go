package operator_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/reconcile/conversion"
)

func ExampleOperator_Admit() {
	hooks := admission.New[crate](crates)
	hooks.Mutate("colour", func(_ context.Context, r *admission.Request[crate]) error {
		r.Object.Spec.Colour = cmp.Or(r.Object.Spec.Colour, "green")
		return nil
	})
	op := operator.New("crate-operator")
	op.Control(crateController{})
	var admitted operator.Admission = hooks
	op.Admit(admitted)
	// op.Main() serves them: in the cluster through the Service crate-operator, elsewhere with --webhooks.url.
	asked, err := hooks.Webhooks()
	fmt.Println(asked[0].Name(), err)
	// Output: mutate.crate.webhooks.operkit.dev <nil>
}

func Example_webhooks() {
	hooks, converter := crateHooks(), crateConversion()
	rules := rule.Set{{Path: "spec.colour", CEL: "self != 'plaid'", Message: "no plaid"}}
	policy := rule.Policy{Name: "crates", Kind: crates, Resource: "crates"}
	op := operator.New("crate-operator")
	op.Control(crateController{})
	op.Admit(hooks)           // functions that validate and change: package reconcile/admission
	op.Convert(converter)     // functions between two versions: package reconcile/conversion
	op.Enforce(rules, policy) // rules in CEL, without a webhook: package reconcile/admission/rule
	fmt.Println("exit code", op.Execute(context.Background(), []string{"version"}, io.Discard, os.Stdout))
	// Output: exit code 0
}

func ExampleOperator_Convert() {
	crateConversion := conversion.New[crate](crates)
	conversion.Add(crateConversion, oldCrates, conversion.Functions[oldCrate, crate]{
		Up:   func(from *oldCrate, to *crate) error { to.Spec.Volume.Litres = from.Spec.Size; return nil },
		Down: func(from *crate, to *oldCrate) error { to.Spec.Size = from.Spec.Volume.Litres; return nil },
	})
	op := operator.New("crate-operator")
	op.Control(crateController{})
	var converted operator.Conversion = crateConversion
	op.Convert(converted)
	op.Convert(converted) // a mistake, which is reported at the start
	op.Execute(context.Background(), []string{"config"}, os.Stdout, os.Stdout)
	// Output: crate-operator: the kind Crate.webhooks.operkit.dev has two conversions: add all versions to one Converter
}

func ExampleOperator_Enforce() {
	op := operator.New("crate-operator")
	op.Enforce(rule.Set{{Path: "spec.colour", CEL: "self != 'plaid'", Message: "no plaid"}}, rule.Policy{Name: "crates", Kind: crates})
	op.Execute(context.Background(), []string{"config"}, os.Stdout, os.Stdout)
	// Output: crate-operator: policy crates: a policy needs a name, a kind with its version, and a resource
}
