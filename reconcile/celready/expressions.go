package celready

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Expressions say of an object in CEL how far it is. Blanks and nothing are the same.
type Expressions struct {
	// Ready is true, a bool, when the object is ready. It has to be given.
	Ready string `json:"ready"`
	// Failed is true, a bool, when it is hopeless to wait. It is asked first: an object for which both are true has failed.
	// Empty: the object doesn't fail.
	Failed string `json:"failed,omitempty"`
	// Message says to people, a string, what is wrong. It is asked when Failed is true or Ready is false, not when a field is
	// missing. Empty, and where it gives "" or can't be evaluated: the message names and shows the expression that decided.
	Message string `json:"message,omitempty"`
}

// Compile makes a Rule of expressions. The error tells of all that is wrong with all of them, each with the name of the
// expression (ready, failed, message), line and column, and the line itself: what doesn't parse, variables and functions
// that there aren't, a type that isn't bool or string (what can be known of it beforehand), invalid literals, and
// a cost that is over the limit for every object. It takes a millisecond and is safe for
// concurrent use; judging compiles nothing.
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

// Registry compiles the expressions of kinds for a readiness.Checker. The error tells of all that is wrong with all of
// them, as that of Compile does, with the kind before it. kinds isn't changed.
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
