// Command shop is an operator of a kind with two versions: it converts between them, has rules that the API server
// checks by itself, and webhooks for what rules can't express.
package main

import (
	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"github.com/operkit/operkit/operator"
)

func main() {
	newOperator().Main()
}

// newOperator returns the operator of shops.
func newOperator() *operator.Operator {
	streets := &streets{}
	op := operator.New("shop-operator", operator.Startup("streets", streets.connect))
	op.Control(Shop{})
	op.Convert(conversions())
	op.Enforce(v2.Taste, v2.TastePolicy)
	op.Admit(hooks(streets))
	return op
}
