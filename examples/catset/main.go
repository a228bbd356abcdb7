// Command catset is an operator in the style of metacontroller: a StatefulSet, written as a pure function.
package main

import "github.com/operkit/operkit/operator"

func main() {
	op := operator.New("catsets")
	op.Drive(CatSets())
	op.Main()
}
