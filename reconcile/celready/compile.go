package celready

import (
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// expression is one of the three expressions of a Rule, compiled. It is safe for concurrent use.
type expression struct {
	name string
	// shown is the shortened text of the expression, for messages.
	shown     string
	program   cel.Program
	tree      *ast.AST
	costLimit uint64
	// fields are the paths of the fields of the object that the expression reads.
	fields []string
}

const (
	// interruptInterval is the number of elements of a loop between two checks of the context.
	interruptInterval = 100
	// maxValueSize bounds the elements of a value that an expression makes, counted at all depths. Ten characters count
	// as one element.
	maxValueSize = 1 << 18
	// maxValueDepth is the depth to which a value is measured; a deeper value counts as too large.
	maxValueDepth = 1000
)

func compileOne(env *cel.Env, name, text string, result *cel.Type, costLimit uint64) (*expression, error) {
	source := common.NewStringSource(text, name)
	checked, issues := check(env, source)
	if issues.Err() != nil {
		return nil, invalid(issues.Errors(), source)
	}
	tree := checked.NativeRep()
	whole := func(format string, args ...any) error {
		root := tree.Expr().ID()
		return invalid([]*common.Error{common.NewError(root, fmt.Sprintf(format, args...), tree.SourceInfo().GetStartLocation(root))}, source)
	}
	if actual := checked.OutputType(); !actual.IsExactType(result) && !actual.IsExactType(types.DynType) {
		return nil, whole("is of the type %s: it must be of the type %s", actual, result)
	}
	estimate, err := env.EstimateCost(checked, unknownSizes{})
	if err != nil {
		return nil, whole("%v", err)
	}
	if estimate.Min > costLimit {
		return nil, whole("costs at least %d for any object, and the limit is %d: simplify it, or allow more by the option celready.CostLimit", estimate.Min, costLimit)
	}
	program, err := env.Program(checked, programOptions(tree, costLimit)...)
	if err != nil {
		return nil, whole("%v", err)
	}
	return &expression{name: name, shown: oneLine(text), program: program, tree: tree, costLimit: costLimit, fields: fieldsOf(tree)}, nil
}

// checking serializes cel-go's checks of expressions: concurrent checks with one environment have a data race in the
// suggestions for unknown names (in 0.33.2, checker.Env.Catalog).
var checking sync.Mutex

func check(env *cel.Env, source common.Source) (*cel.Ast, *cel.Issues) {
	checking.Lock()
	defer checking.Unlock()
	return env.CompileSource(source)
}

func programOptions(tree *ast.AST, costLimit uint64) []cel.ProgramOption {
	options := []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize),
		cel.CostTracking(actualCost{}),
		cel.CostLimit(costLimit),
		cel.InterruptCheckFrequency(interruptInterval),
		cel.OptimizeRegex(compiledPatterns...),
	}
	if makesValues(tree) {
		options = append(options, cel.MemoryTracking(types.MemoryTrackerSizeCalculator(measure)), cel.MemoryLimit(maxValueSize))
	}
	return options
}

// maxErrors bounds the reported errors of one expression: one mistake can cause many.
const maxErrors = 10

// invalid returns an error with the faults of an expression and their places.
func invalid(faults []*common.Error, source common.Source) error {
	var lines []string
	for _, fault := range faults[:min(maxErrors, len(faults))] {
		lines = append(lines, strings.TrimPrefix(fault.ToDisplayString(source), "ERROR: "))
	}
	if more := len(faults) - maxErrors; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more errors", source.Description(), more))
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// unknownSizes assumes nothing about the object, so that the lower bound of the estimate applies to every object.
type unknownSizes struct{}

func (unknownSizes) EstimateSize(cost.AstNode) *cost.SizeEstimate { return nil }
func (unknownSizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// actualCost computes the cost of calls that cel-go's own model underestimates. These are comparisons, of which cel-go
// counts only the top level, and calls whose overload is known only at run time. Calls on parts of an object are
// usually of the second sort.
type actualCost struct{}

// charactersPerUnit is how many characters cost one unit, as in cel-go's own model.
const charactersPerUnit = 10

// CallCost implements cost.ActualCostEstimator.
func (actualCost) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	switch {
	case (function == operators.Equals || function == operators.NotEquals) && isContainer(args[0]) && isContainer(args[1]):
		return new(1 + min(measured(args[0]), measured(args[1]))/charactersPerUnit)
	case function == operators.In && isList(args[1]):
		return new(measured(args[1]))
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

func isList(value ref.Val) bool {
	_, ok := value.(traits.Lister)
	return ok
}

func isContainer(value ref.Val) bool {
	_, isMap := value.(traits.Mapper)
	return isMap || isList(value)
}

// measure counts the elements of a value at all depths.
var measure = types.NewSizeCalculator(types.SizeCalculatorMaxDepth(maxValueDepth), types.SizeCalculatorMaxTraversal(maxValueSize))

func measured(value ref.Val) uint64 { return uint64(measure.AggregateSize(value)) }
