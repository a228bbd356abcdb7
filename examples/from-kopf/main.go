// Command from-kopf is an operator of handlers, as operators written with kopf are: the ephemeral volume claims of
// kopf's tutorial.
package main

import "github.com/operkit/operkit/operator"

func main() {
	op := operator.New("claims")
	op.Drive(Claims())
	op.Main()
}
