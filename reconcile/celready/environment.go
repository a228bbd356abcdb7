package celready

import (
	"math"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

const (
	// maxCharacters bounds the length of an expression, and maxNesting the nesting of its parts.
	maxCharacters = 8192
	maxNesting    = 100
	// maxPatternSize bounds the instructions of a compiled regular expression.
	maxPatternSize = 1000
	// maxRangeSize bounds the numbers that lists.range returns.
	maxRangeSize = 10_000
	variable     = "object"
)

// environment has the functions for expressions. The versions of the libraries are fixed, so that a newer cel-go
// doesn't add functions whose work isn't bounded here.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	markShared()
	env, err := cel.NewEnv(
		cel.Variable(variable, cel.MapType(cel.StringType, cel.DynType)),
		cel.OptionalTypes(cel.OptionalTypesVersion(4)),
		ext.Strings(ext.StringsVersion(5)),
		ext.Lists(ext.ListsVersion(3), ext.ListsMaxRangeSize(maxRangeSize)),
		ext.Bindings(ext.BindingsVersion(0)),
		ext.TwoVarComprehensions(ext.TwoVarComprehensionsVersion(0)),

		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		// Errors show parts of an expression, with its macros as they were written.
		cel.EnableMacroCallTracking(),

		cel.ParserExpressionSizeLimit(maxCharacters),
		cel.ParserRecursionLimit(maxNesting),
		cel.RegexProgramSizeLimit(maxPatternSize),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(), literalPatterns{},
		),
	)
	if err != nil {
		return nil, err
	}
	bounded, err := boundedFunctions(env)
	if err != nil {
		return nil, err
	}
	return env.Extend(bounded...)
})

// nowhere is an id that no part of any expression has.
const nowhere = -1

// markShared sets a part in the errors that cel-go shares between all evaluations. In each error cel-go records the
// part of the expression that caused the error, unless a part is set already. For a shared error this would be a data
// race, and the part could belong to another expression.
func markShared() {
	for _, shared := range []ref.Val{types.NoSuchOverloadErr(), types.Int(math.MaxInt64).ConvertToType(types.TimestampType)} {
		types.LabelErrNode(nowhere, shared)
	}
}
