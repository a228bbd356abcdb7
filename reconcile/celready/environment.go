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
	// maxCharacters is how long an expression may be, maxNesting how deep its parts may be in each other.
	maxCharacters = 8192
	maxNesting    = 100
	// maxPatternSize is how many instructions a regular expression may compile to.
	maxPatternSize = 1000
	// maxRangeSize is how many numbers lists.range gives.
	maxRangeSize = 10_000
	variable     = "object"
)

// environment is what expressions may use. The versions of the libraries are named, so that a newer cel-go doesn't
// bring functions of which nobody has thought how much work they do.
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
		// For what errors show of an expression.
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

// nowhere is no part of any expression.
const nowhere = -1

// markShared marks the errors that cel-go shares between all evaluations. It notes in an error the part of the
// expression that it comes from, if none is noted yet: in a shared one that is a data race, and the place is that of
// another expression.
func markShared() {
	for _, shared := range []ref.Val{types.NoSuchOverloadErr(), types.Int(math.MaxInt64).ConvertToType(types.TimestampType)} {
		types.LabelErrNode(nowhere, shared)
	}
}
