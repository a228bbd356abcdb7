package celready

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Reasons of a readiness.Result.
const (
	reasonReady    = "Ready"
	reasonNotReady = "NotReady"
	reasonFailed   = "Failed"
	// reasonMissing: a field is missing.
	reasonMissing = "FieldMissing"
	// reasonCost: an expression exceeds a limit.
	reasonCost = "CostExceeded"
	// reasonError: an expression can't be evaluated on the object.
	reasonError = "ExpressionError"
)

// failure is the reason why an expression has no value. Its text contains no values of the object.
type failure struct {
	reason, text string
	// fields are the missing fields.
	fields []string
	// cause is the cause of the context if the context has ended, nil for other failures.
	cause error
}

// Error implements error.
func (f *failure) Error() string { return f.text }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

// evaluation evaluates a program: with a context, or without one.
type evaluation func(program cel.Program, variables any) (ref.Val, *cel.EvalDetails, error)

func without(program cel.Program, variables any) (ref.Val, *cel.EvalDetails, error) {
	return program.Eval(variables)
}

func within(ctx context.Context) evaluation {
	return func(program cel.Program, variables any) (ref.Val, *cel.EvalDetails, error) {
		value, details, err := program.ContextEval(ctx, variables)
		if errors.Is(err, interpreter.InterruptError{}) {
			cause := context.Cause(ctx)
			err = &failure{reason: reasonError, text: fmt.Sprintf("was interrupted: %v", cause), cause: cause}
		}
		return value, details, err
	}
}

// activation holds the one variable.
type activation struct{ object map[string]any }

// ResolveName implements cel.Activation.
func (a activation) ResolveName(name string) (any, bool) { return a.object, name == variable }

// Parent implements cel.Activation.
func (activation) Parent() cel.Activation { return nil }

// valueOf evaluates an expression whose value must be a T, types.Bool or types.String.
func valueOf[T ref.Val](e *expression, evaluate evaluation, object map[string]any) (value T, failed *failure) {
	result, _, err := evaluate(e.program, activation{object})
	if err != nil {
		return value, e.explain(err)
	}
	typed, ok := result.(T)
	if !ok {
		return value, &failure{reason: reasonError, text: fmt.Sprintf("the expression %s is of the type %s, not %s",
			e.name, result.Type().TypeName(), value.Type().TypeName())}
	}
	return typed, nil
}

// explain returns why an expression has no value. cel-go's messages may contain values of the object, for example of a
// Secret, so only the expression is shown, except for messages that are known to be harmless.
func (e *expression) explain(err error) *failure {
	var own *failure
	var cancelled interpreter.EvalCancelledError
	var at *types.Err
	switch {
	case errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded:
		return &failure{reason: reasonCost, text: fmt.Sprintf("the expression %s costs more than the limit of %d: simplify it, or allow more by the option celready.CostLimit", e.name, e.costLimit)}
	case errors.As(err, &cancelled):
		return &failure{reason: reasonCost, text: fmt.Sprintf("the expression %s makes a value of more than %d elements", e.name, maxValueSize)}
	case errors.As(err, &own):
		return &failure{reason: own.reason, text: fmt.Sprintf("the expression %s %s", e.name, own.text), cause: own.cause}
	case !errors.As(err, &at):
		return &failure{reason: reasonError, text: fmt.Sprintf("the expression %s can't be evaluated", e.name)}
	}
	part := e.part(at.NodeID())
	if part.lookUp {
		return &failure{reason: reasonMissing, text: part.text + " isn't there yet", fields: part.fields}
	}
	text := "the expression " + e.name
	if part.text != "" {
		text += ", " + part.position + ": " + part.text
	}
	text += " can't be evaluated"
	if why, _, _ := strings.Cut(at.String(), ":"); harmless[why] {
		text += ": " + why
	}
	return &failure{reason: reasonError, text: text}
}

// harmless are the messages of cel-go that contain no values.
var harmless = map[string]bool{
	"no such overload": true, "division by zero": true, "modulus by zero": true, "integer overflow": true,
	"unsigned integer overflow": true, "duration overflow": true, "timestamp overflow": true,
}
