package celready

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

// Expressions define the readiness of a kind in CEL. A blank expression counts as empty.
type Expressions struct {
	// Ready, a bool, is true when the object is ready. It is required.
	Ready string `json:"ready"`
	// Failed, a bool, is true when the object has failed. It is evaluated first: an object for which both are true has
	// failed. Empty means that objects never fail.
	Failed string `json:"failed,omitempty"`
	// Message, a string, describes for people what is wrong. It is evaluated when Failed is true or Ready is false, but
	// not when a field is missing. If it is empty, results in "" or can't be evaluated, the message shows the
	// expression that decided.
	Message string `json:"message,omitempty"`
}

// Compile makes a Rule of expressions. The error has all mistakes of all of them, each with the name of the expression
// (ready, failed, message), line and column, and the line itself: syntax errors, unknown variables and functions, a
// type that isn't bool or string (as far as it is known beforehand), invalid literals, and a cost that is over the
// limit for every object. It takes a millisecond and is safe for concurrent use; judging compiles nothing.
func Compile(expressions Expressions, opts ...Option) (*Rule, error) {
	o := newOptions(opts)
	env, err := environment()
	if err != nil {
		return nil, err
	}
	var errs []error
	compile := func(name, text string, result *cel.Type) *expression {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		compiled, err := compileOne(env, name, text, result, o.costLimit)
		errs = append(errs, err)
		return compiled
	}
	rule := &Rule{
		ready:   compile("ready", expressions.Ready, cel.BoolType),
		failed:  compile("failed", expressions.Failed, cel.BoolType),
		message: compile("message", expressions.Message, cel.StringType),
	}
	if strings.TrimSpace(expressions.Ready) == "" {
		errs = append(errs, errors.New("ready: is empty: say when an object is ready, such as object.status.phase == 'Running'"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return rule, nil
}

// Registry compiles the expressions of kinds for a readiness.Checker. The error has all mistakes of all of them, as
// that of Compile, with the kind before each. kinds isn't changed.
func Registry(kinds map[schema.GroupKind]Expressions, opts ...Option) (readiness.Registry, error) {
	registry := make(readiness.Registry, len(kinds))
	var errs []error
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) }) {
		rule, err := Compile(kinds[kind], opts...)
		if err != nil {
			errs = append(errs, fmt.Errorf("kind %s: %w", kind, err))
			continue
		}
		registry[kind] = readiness.Expectation{Func: rule.Result}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return registry, nil
}

// DefaultCostLimit is what one evaluation of one expression may cost without CostLimit. It is a tenth of what
// Kubernetes allows an expression of a CustomResourceDefinition, and takes some milliseconds, some tenths of a second
// where lists are put together. Expressions of a kind's readiness cost some dozens.
const DefaultCostLimit = 100_000

// Option sets what is rarely set. Options apply in order, so the last one wins; a nil Option is ignored.
type Option func(*options)

type options struct {
	costLimit uint64
}

// CostLimit sets what one evaluation of one expression may cost: about one unit for each access, operator or call and
// each element of a loop, and one for ten characters that are looked at. Zero is DefaultCostLimit.
func CostLimit(limit uint64) Option { return func(o *options) { o.costLimit = limit } }

func newOptions(opts []Option) options {
	var o options
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	o.costLimit = cmp.Or(o.costLimit, DefaultCostLimit)
	return o
}
