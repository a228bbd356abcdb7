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

// expression is one of the three, compiled. It is safe for concurrent use.
type expression struct {
	name string
	// shown is what is shown of it.
	shown     string
	program   cel.Program
	tree      *ast.AST
	costLimit uint64
	// fields are those of the object that it looks at, as paths.
	fields []string
}

const (
	// interruptInterval is after how many elements of a loop it is asked whether the context has ended.
	interruptInterval = 100
	// maxValueSize is how large a value may be that an expression makes: elements in all its depths, and ten characters
	// each.
	maxValueSize = 1 << 18
	// maxValueDepth is how deep a value is measured; what is deeper counts as too large.
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
		return nil, whole("costs at least %d, whatever the object, and the limit is %d: simplify it, or allow more (CostLimit)", estimate.Min, costLimit)
	}
	program, err := env.Program(checked, programOptions(tree, costLimit)...)
	if err != nil {
		return nil, whole("%v", err)
	}
	return &expression{name: name, shown: oneLine(text), program: program, tree: tree, costLimit: costLimit, fields: fieldsOf(tree)}, nil
}

// checking is held by the one who has cel-go check an expression: an environment that several check with at once has a
// data race in what it suggests for names that there aren't (in 0.33.2, checker.Env.Catalog).
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

// maxErrors of one expression are told: one mistake can have many of them.
const maxErrors = 10

// invalid tells what is wrong with an expression, and where.
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

// unknownSizes estimates for any object: the least that an expression costs is what counts.
type unknownSizes struct{}

func (unknownSizes) EstimateSize(cost.AstNode) *cost.SizeEstimate { return nil }
func (unknownSizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// actualCost charges calls that cel-go's own model takes for cheaper than they are: comparisons, of which it counts the
// top level alone, and calls of which only the values tell which function it is, as is usual for parts of an object.
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
var measure = types.NewSizeCalculator(types.SizeCalculatorMaxDepth(maxValueDepth), types.SizeCalculatorMaxTraversal(maxValueSize))

func measured(value ref.Val) uint64 { return uint64(measure.AggregateSize(value)) }
