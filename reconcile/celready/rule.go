package celready

import (
	"context"
	"errors"
	"time"

	"cel.dev/cel-go/common/types"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rule judges objects by expressions. Compile returns one; the zero value has no expression, and its result for every
// object is Unknown. It is safe for concurrent use.
type Rule struct {
	ready, failed, message *expression
}

// Result judges an object by the expressions alone. It can be used as readiness.Expectation.Func: a readiness.Checker
// then first makes the checks that all kinds have in common. Result doesn't change object. The State is
//
//   - Failed if the expression Failed is true, even if Ready is true as well;
//   - Ready if the expression Ready is true;
//   - InProgress if Ready is false, or if a field that Ready reads is missing; the message and Fields name the missing
//     field;
//   - Unknown if an expression can't be evaluated (Reason is ExpressionError) or exceeds a limit (CostExceeded). The
//     message names kind, expression, place and limit. This is a mistake in the expression, not in the object.
func (r *Rule) Result(_ time.Time, object map[string]any) readiness.Result {
	result, _ := r.judge(without, object)
	return result
}

// Judge judges an object, for reconcile.ReadyWhen. It first makes the checks that all kinds have in common. The
// component waits for an object that isn't ready yet. An object that is Failed or Unknown fails its component, so that
// a mistake in an expression is noticed. If ctx ends meanwhile, the error wraps the cause of ctx. Judge doesn't change
// live.
func (r *Rule) Judge(ctx context.Context, live *unstructured.Unstructured) error {
	var cause error
	expected := readiness.Expectation{Func: func(_ time.Time, object map[string]any) readiness.Result {
		result, failed := r.judge(within(ctx), object)
		if failed != nil {
			cause = failed.cause
		}
		return result
	}}
	checker := readiness.Checker{}
	if live != nil {
		checker.Registry = readiness.Registry{live.GroupVersionKind().GroupKind(): expected}
	}
	result := checker.Of(live)
	text := string(result.State) + " (" + result.Message + ")"
	switch result.State {
	case readiness.Ready:
		return nil
	case readiness.Failed, readiness.Unknown:
		if cause != nil {
			return &failure{text: text, cause: cause}
		}
		return errors.New(text)
	}
	return request.Precondition("%s", text)
}

// judge returns the result and, if the result is Unknown, the reason.
func (r *Rule) judge(evaluate evaluation, object map[string]any) (readiness.Result, *failure) {
	if r.ready == nil {
		return unknown(object, &failure{reason: reasonError, text: "the rule has no expression: make it by Compile"})
	}
	if r.failed != nil {
		failed, err := valueOf[types.Bool](r.failed, evaluate, object)
		switch {
		case err != nil && err.reason != reasonMissing:
			return unknown(object, err)
		case bool(failed):
			message := r.words(evaluate, object, r.failed, "is true")
			return readiness.Result{State: readiness.Failed, Reason: reasonFailed, Message: message, Fields: r.failed.fields}, nil
		}
	}
	ready, err := valueOf[types.Bool](r.ready, evaluate, object)
	switch {
	case err != nil && err.reason == reasonMissing:
		return readiness.Result{State: readiness.InProgress, Reason: reasonMissing, Message: err.text, Fields: err.fields}, nil
	case err != nil:
		return unknown(object, err)
	case bool(ready):
		message := r.ready.says("is true")
		return readiness.Result{State: readiness.Ready, Reason: reasonReady, Message: message, Fields: r.ready.fields}, nil
	}
	message := r.words(evaluate, object, r.ready, "is not true")
	return readiness.Result{State: readiness.InProgress, Reason: reasonNotReady, Message: message, Fields: r.ready.fields}, nil
}

// words returns the value of the expression message. If there is no value, it returns a text about the expression that
// decided. If message can't be evaluated for another reason than a missing field, the text says so.
func (r *Rule) words(evaluate evaluation, object map[string]any, decided *expression, verdict string) string {
	fallback := decided.says(verdict)
	if r.message == nil {
		return fallback
	}
	text, err := valueOf[types.String](r.message, evaluate, object)
	switch {
	case err != nil && err.reason != reasonMissing:
		return fallback + "; " + err.text
	case text == "":
		return fallback
	}
	return string(text)
}

// says returns a text with the name, the verdict and the source of an expression.
func (e *expression) says(verdict string) string {
	return "the expression " + e.name + " " + verdict + ": " + e.shown
}

func unknown(object map[string]any, why *failure) (readiness.Result, *failure) {
	content := unstructured.Unstructured{Object: object}
	group := content.GroupVersionKind().GroupKind()
	message := why.text
	if group != (schema.GroupKind{}) {
		message = group.String() + ": " + message
	}
	return readiness.Result{State: readiness.Unknown, Reason: why.reason, Message: message}, why
}
