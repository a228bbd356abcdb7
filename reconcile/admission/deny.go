package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Deny returns an error that denies the request with this text, and the code 403 (Forbidden). For another code or
// reason return an error of package apierrors; for a mistake in a field, a field.Error.
func Deny(format string, args ...any) error { return &denial{fmt.Errorf(format, args...)} }

type denial struct{ error }

func (d *denial) Unwrap() error { return d.error }

// apiStatus is an error of package apierrors.
type apiStatus interface {
	error
	apierrors.APIStatus
}

// fault is the error of a function.
type fault struct {
	function string
	err      error
}

// The ranks of errors: of several, the one with the highest rank is answered, and of these the first.
const (
	// unexpected is an error of the program, whose text isn't answered.
	unexpected = iota
	// passing and permanent are errors of package request: their texts are for users.
	passing
	permanent
	// denied is an error that denies the request.
	denied
)

// rank returns the rank of an error.
func rank(err error) int {
	_, isDenial := errors.AsType[*denial](err)
	_, isStatus := errors.AsType[apiStatus](err)
	_, isMarked := errors.AsType[*request.Error](err)
	switch {
	case isDenial, isStatus, len(fieldErrors(err)) > 0, request.ClassOf(err) == status.ErrorConfig:
		return denied
	case request.IsPermanent(err):
		return permanent
	case isMarked:
		return passing
	}
	return unexpected
}

// fieldErrors returns all mistakes in fields that an error has.
func fieldErrors(err error) (found field.ErrorList) {
	switch e := err.(type) {
	case nil:
	case *field.Error:
		found = append(found, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			found = append(found, fieldErrors(one)...)
		}
	case interface{ Errors() []error }: // field.ErrorList.ToAggregate
		for _, one := range e.Errors() {
			found = append(found, fieldErrors(one)...)
		}
	case interface{ Unwrap() error }:
		found = fieldErrors(e.Unwrap())
	}
	return found
}

// answer returns how the faults of a request are answered, nil without any. All mistakes in fields are answered
// together if such a mistake comes first.
func answer(kind schema.GroupKind, name string, faults []fault) *metav1.Status {
	var first *fault
	var fields field.ErrorList
	for i := range faults {
		if first == nil || rank(faults[i].err) > rank(first.err) {
			first = &faults[i]
		}
		fields = append(fields, fieldErrors(faults[i].err)...)
	}
	switch {
	case first == nil:
		return nil
	case len(fieldErrors(first.err)) > 0:
		invalid := apierrors.NewInvalid(kind, name, fields).ErrStatus
		return &invalid
	}
	return first.status()
}

// status returns the answer to a fault that isn't one in fields.
func (f *fault) status() *metav1.Status {
	result := &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError}
	_, isDenial := errors.AsType[*denial](f.err)
	api, isStatus := errors.AsType[apiStatus](f.err)
	switch {
	case isStatus:
		given := api.Status()
		result = &given
	case isDenial:
		result.Code, result.Reason, result.Message = http.StatusForbidden, metav1.StatusReasonForbidden, f.err.Error()
	case rank(f.err) == denied:
		result.Code, result.Reason, result.Message = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, textOf(f.err)
	case rank(f.err) > unexpected:
		result.Message = textOf(f.err)
	case errors.Is(f.err, context.DeadlineExceeded):
		result.Code, result.Reason = http.StatusGatewayTimeout, metav1.StatusReasonTimeout
		result.Message = fmt.Sprintf("%s took too long", f.function)
	default:
		result.Message = fmt.Sprintf("%s failed: the log of the operator says why", f.function)
	}
	if result.Code < 400 || result.Code > 599 {
		result.Code = http.StatusInternalServerError
	}
	result.Status = metav1.StatusFailure
	result.Message = cmp.Or(result.Message, fmt.Sprintf("%s denied the request", f.function))
	return result
}

// textOf returns the text of an error of package request without what it says about a next time: there is none.
func textOf(err error) string {
	if marked, ok := err.(*request.Error); ok && marked.Err != nil {
		return textOf(marked.Err)
	}
	return err.Error()
}
