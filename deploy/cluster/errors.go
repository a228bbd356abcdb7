package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failed says which request an error answers.
type failed struct {
	verb        string
	resource    resource
	ref         deploy.Ref
	subresource string
}

// typed turns a client's error into one of package deploy. What it doesn't know it leaves
// as it is.
func typed(err error, f failed) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		// No answer of an API server at all: refused, reset, timed out, not Kubernetes.
		return &deploy.UnavailableError{Ref: f.ref, Err: err}
	}
	switch {
	case apierrors.IsNotFound(err):
		return &deploy.NotFoundError{Ref: f.ref, Err: err}
	case apierrors.IsForbidden(err):
		return forbidden(err, f)
	case apierrors.IsConflict(err):
		return conflict(err, status, f)
	case otherObject(status):
		return &deploy.StaleError{Ref: f.ref, Err: err}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), unknownField(status):
		return &deploy.InvalidError{Ref: f.ref, Err: err}
	case apierrors.IsUnauthorized(err):
		// A token may be renewed any moment, so that trying again makes sense.
		return &deploy.UnavailableError{Ref: f.ref, Err: fmt.Errorf("it doesn't accept our credentials: %w", err)}
	case unavailable(err):
		after, _ := apierrors.SuggestsClientDelay(err)
		return &deploy.UnavailableError{Ref: f.ref, RetryAfter: time.Duration(after) * time.Second, Err: err}
	}
	return err
}

// unknownField tells whether an apply was refused for a field that its kind doesn't have. The
// API server answers that with 500 and no reason; its text is all there is to tell it from
// a failure of its own, and the worst of a mistake here is the wrong word in a message.
func unknownField(status apierrors.APIStatus) bool {
	return strings.Contains(status.Status().Message, "failed to create typed patch object")
}

func forbidden(err error, f failed) error {
	resource := f.resource.GroupResource()
	if f.subresource != "" {
		resource.Resource += "/" + f.subresource
	}
	return &deploy.ForbiddenError{Verb: f.verb, Resource: resource, Namespace: f.ref.Namespace, Name: f.ref.Name, Err: err}
}

// conflict tells a field that another manager holds from an object that changed meanwhile.
func conflict(err error, status apierrors.APIStatus, f failed) error {
	var fields []deploy.FieldConflict
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			if cause.Type == metav1.CauseTypeFieldManagerConflict {
				fields = append(fields, deploy.FieldConflict{Field: cause.Field, Manager: deploy.ManagerOf(cause.Message), Message: cause.Message})
			}
		}
	}
	if len(fields) == 0 {
		return &deploy.StaleError{Ref: f.ref, Err: err}
	}
	return &deploy.ConflictError{Ref: f.ref, Fields: fields, Err: err}
}

// otherObject tells whether a write was refused because the object has another uid than the
// one that it was meant for, which an API server calls invalid: a uid can't be changed.
func otherObject(status apierrors.APIStatus) bool {
	details := status.Status().Details
	if status.Status().Reason != metav1.StatusReasonInvalid || details == nil {
		return false
	}
	return slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" })
}

func unavailable(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsUnexpectedServerError(err)
}
