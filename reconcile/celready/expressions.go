package celready

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

// Expressions define the readiness of a kind in CEL. A blank expression counts as empty.
type Expressions struct {
	// Ready, a bool, is true when the object is ready. It is required.
	Ready string `json:"ready"`
	// Failed, a bool, is true when the object has failed. It is evaluated before Ready: an object for which both are
	// true has failed. Empty means that objects never fail.
	Failed string `json:"failed,omitempty"`
	// Message, a string, describes for people what is wrong. It is evaluated when Failed is true or Ready is false, but
	// not when a field that Ready reads is missing. If Message is empty, results in "" or can't be evaluated, the
	// message shows the expression that decided.
	Message string `json:"message,omitempty"`
}

// Compile makes a Rule of expressions. The error lists the mistakes in all expressions, each with the name of the
// expression (ready, failed, message), line and column, and the line itself. Mistakes are syntax errors, unknown
// variables and functions, a type that isn't the required bool or string (if the type is known beforehand), invalid
// literals, and a cost that exceeds the limit for every object. Compile takes a millisecond and is safe for concurrent
// use. Judging an object compiles nothing.
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
		errs = append(errs, errors.New("ready: empty expression: write when an object is ready, such as object.status.phase == 'Running'"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return rule, nil
}

// Registry compiles the expressions of kinds for a readiness.Checker. The error lists the mistakes of all kinds as
// Compile does, each after its kind. kinds isn't changed.
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

// DefaultCostLimit is the most that one evaluation of one expression may cost if CostLimit isn't set. It is a tenth of
// the limit of Kubernetes for an expression of a CustomResourceDefinition. An evaluation that reaches it takes some
// milliseconds, or some tenths of a second if it joins lists. A usual expression for readiness costs a few dozen.
const DefaultCostLimit = 100_000

// Option is an option of Compile and Registry. Options apply in order, so the last one wins; a nil Option is ignored.
type Option func(*options)

type options struct {
	costLimit uint64
}

// CostLimit sets what one evaluation of one expression may cost: about one unit for each access, operator or call and
// each element of a loop, and one for ten characters that are looked at. Zero means DefaultCostLimit.
func CostLimit(limit uint64) Option { return func(o *options) { o.costLimit = limit } }

func newOptions(opts []Option) options {
	var o options
	optional.Apply(&o, opts)
	o.costLimit = cmp.Or(o.costLimit, DefaultCostLimit)
	return o
}
