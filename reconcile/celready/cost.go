package celready

import (
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// actualCost charges calls that cel-go's own model takes for cheaper than they are: comparisons, of which it counts the top level
// alone, and calls of which only the values tell which function it is, as is usual for parts of an object.
type actualCost struct{}

// charactersPerUnit is how many characters cost one unit, as in cel-go's own model.
const charactersPerUnit = 10

// CallCost implements cost.ActualCostEstimator.
func (actualCost) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	switch {
	case (function == operators.Equals || function == operators.NotEquals) && isContainer(args[0]) && isContainer(args[1]):
		return units(1 + min(measured(args[0]), measured(args[1]))/charactersPerUnit)
	case function == operators.In && isList(args[1]):
		return units(measured(args[1]))
	case overload != "":
		return nil
	}
	charge := uint64(1)
	for _, arg := range args {
		switch arg.(type) {
		case types.String, types.Bytes:
			charge += size(arg) / charactersPerUnit
		}
	}
	return &charge
}

func units(n uint64) *uint64 { return &n }

func isList(value ref.Val) bool {
	_, ok := value.(traits.Lister)
	return ok
}

func isContainer(value ref.Val) bool {
	_, isMap := value.(traits.Mapper)
	return isMap || isList(value)
}

// measure counts what is in a value, in all its depths.
var measure = types.NewSizeCalculator(types.SizeCalculatorMaxDepth(deepestValue), types.SizeCalculatorMaxTraversal(largestValue))

func measured(value ref.Val) uint64 { return uint64(measure.AggregateSize(value)) }
