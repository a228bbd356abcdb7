package celready

import (
	"fmt"
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// maxWork bounds the work of a single call: the characters that it writes, or the pairs that it compares. cel-go counts
// the cost of a call after the call has returned, and doesn't interrupt the call. So calls whose work is more than
// linear in their arguments must be refused beforehand.
const maxWork = 1 << 24

// works has the functions whose work must be bounded, each with an estimate of its work from its arguments.
var works = map[string]func(args []ref.Val) uint64{
	"replace":     func(args []ref.Val) uint64 { return (size(args[0]) + 1) * max(1, size(args[2])) },
	"join":        func(args []ref.Val) uint64 { return size(args[0]) * joint(args) },
	"indexOf":     func(args []ref.Val) uint64 { return size(args[0]) * size(args[1]) },
	"lastIndexOf": func(args []ref.Val) uint64 { return size(args[0]) * size(args[1]) },
	"distinct":    func(args []ref.Val) uint64 { return size(args[0]) * size(args[0]) },
}

// joint returns what is counted for each element of a join: the length of the separator, or 1 if no separator is given.
// The text of the element isn't counted.
func joint(args []ref.Val) uint64 {
	if len(args) < 2 {
		return 1
	}
	return size(args[1])
}

// size returns the number of bytes or elements of a value. The result is small enough that the product of two sizes
// fits into a uint64.
func size(value ref.Val) uint64 {
	switch v := value.(type) {
	case types.String:
		return uint64(len(v))
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok && n > 0 {
			return uint64(n)
		}
	}
	return 0
}

// tooMuchWork returns the error of a refused call. It contains no values.
func tooMuchWork(function string) ref.Val {
	return types.WrapErr(&failure{reason: reasonCost, text: fmt.Sprintf("has a call of %s that is too much work: its arguments are too long", function)})
}

// boundedFunctions returns the functions in works, wrapped with the check of maxWork.
func boundedFunctions(env *cel.Env) ([]cel.EnvOption, error) {
	known := env.Functions()
	var options []cel.EnvOption
	for name, work := range works {
		declared, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("function %s isn't part of cel-go's libraries any more", name)
		}
		bindings, err := declared.Bindings()
		if err != nil {
			return nil, err
		}
		var bounded []cel.FunctionOpt
		for _, overload := range declared.OverloadDecls() {
			for _, binding := range bindings {
				if binding.Operator == overload.ID() {
					bounded = append(bounded, cel.MemberOverload(overload.ID(), overload.ArgTypes(), overload.ResultType(),
						decls.FunctionBinding(boundedCall(name, work, binding))))
				}
			}
		}
		options = append(options, cel.Function(name, bounded...))
	}
	return options, nil
}

func boundedCall(name string, work func(args []ref.Val) uint64, binding *functions.Overload) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		switch {
		case work(args) > maxWork:
			return tooMuchWork(name)
		case len(args) == 1 && binding.Unary != nil:
			return binding.Unary(args[0])
		case len(args) == 2 && binding.Binary != nil:
			return binding.Binary(args[0], args[1])
		}
		return binding.Function(args...)
	}
}

// literalPatterns refuses regular expressions that aren't literals: such expressions would be compiled at each
// evaluation, and could come from an object.
type literalPatterns struct{}

// Name implements cel.ASTValidator.
func (literalPatterns) Name() string { return "operkit.validator.literal_patterns" }

// Validate implements cel.ASTValidator.
func (literalPatterns) Validate(_ *cel.Env, _ cel.ValidatorConfig, tree *ast.AST, issues *cel.Issues) {
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		if pattern := args[len(args)-1]; pattern.Kind() != ast.LiteralKind {
			issues.ReportErrorAtID(pattern.ID(), "the regular expression that is passed to matches must be a string literal")
		}
	}))
}

// compiledPatterns compiles the regular expressions that are passed to the function matches once, when the CEL
// expression is compiled.
var compiledPatterns = []*interpreter.RegexOptimization{
	{Function: overloads.Matches, OverloadID: overloads.Matches, RegexIndex: 1, Factory: compiledPattern},
	{Function: overloads.Matches, OverloadID: overloads.MatchesString, RegexIndex: 1, Factory: compiledPattern},
}

func compiledPattern(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	instructions, err := types.RegexProgramSize(pattern)
	if err != nil {
		return nil, err
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
		text, ok := args[0].(types.String)
		switch {
		case !ok:
			return types.NewErr("no such overload")
		case uint64(len(text))*uint64(instructions) > maxWork:
			return tooMuchWork(overloads.Matches)
		}
		return types.Bool(compiled.MatchString(string(text)))
	}), nil
}
