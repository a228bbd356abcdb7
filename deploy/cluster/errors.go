package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failed describes the request that an error is about.
type failed struct {
	verb        string
	resource    resource
	ref         deploy.Ref
	subresource string
	// partial means that the response has only metadata.
	partial bool
}

// typed converts an error of a client into an error of package deploy. To an error that it doesn't know, it adds a
// description of the request. ctx is the context of the caller: if ctx has ended, the error isn't a failure of the
// cluster.
func typed(ctx context.Context, err error, f failed) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return unanswered(ctx, err, f)
	}
	switch {
	case noAPIServer(err, status):
		return &deploy.UnavailableError{Ref: f.ref, Err: fmt.Errorf("the answer isn't from an API server: %w", err)}
	case apierrors.IsNotFound(err):
		return &deploy.NotFoundError{Ref: f.ref, Err: err}
	case ownTrouble(err):
		return later(err, f)
	case apierrors.IsForbidden(err):
		return forbidden(err, f)
	case apierrors.IsAlreadyExists(err):
		return &deploy.AlreadyExistsError{Ref: f.ref, Err: err}
	case apierrors.IsConflict(err):
		return conflict(err, status, f)
	case otherObject(status):
		return &deploy.StaleError{Ref: f.ref, Err: err}
	case refused(err, status):
		return &deploy.InvalidError{Ref: f.ref, Causes: causes(status), TooLarge: tooLarge(status) || apierrors.IsRequestEntityTooLargeError(err), Err: err}
	case apierrors.IsUnauthorized(err):
		// A retry may succeed, because the token may be renewed at any moment.
		return &deploy.UnavailableError{Ref: f.ref, Err: fmt.Errorf("it doesn't accept our credentials: %w", err)}
	case unavailable(err):
		return later(err, f)
	}
	return fmt.Errorf("%s: %s of %s: %w", f.ref, f.verb, f.resource.Resource, err)
}

// later returns the error for a request that may be retried.
func later(err error, f failed) error {
	after, _ := apierrors.SuggestsClientDelay(err)
	return &deploy.UnavailableError{Ref: f.ref, RetryAfter: time.Duration(after) * time.Second, Err: err}
}

// isAnswer reports whether an error is a response of an API server.
func isAnswer(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// unanswered returns the error for a request without a response from an API server. Either ctx has ended, the
// connection failed, or the response came from something else.
func unanswered(ctx context.Context, err error, f failed) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), noTimeLeft(err):
		if !errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		}
		return &deploy.TimeoutError{Ref: f.ref, Reason: "no answer to " + f.verb + " of " + f.resource.Resource, Err: err}
	case ctx.Err() != nil:
		if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
			return fmt.Errorf("%s of %s: %w: %w", f.verb, f.resource.Resource, ctx.Err(), cause)
		}
		return fmt.Errorf("%s of %s: %w", f.verb, f.resource.Resource, context.Cause(ctx))
	}
	return &deploy.UnavailableError{Ref: f.ref, Err: err}
}

// noTimeLeft reports whether the client-side rate limit would have delayed the request beyond the deadline of its
// context. Only the text of the error shows this. If the guess is wrong, the error has the wrong type, with no other
// effect.
func noTimeLeft(err error) bool {
	return strings.Contains(err.Error(), "would exceed context deadline")
}

// pageNotFound is the response of an API server for a path that it doesn't serve.
const pageNotFound = "404 page not found"

// nothingServed reports whether err means that the kind isn't served. It returns false if only the object is absent.
func nothingServed(err error) bool {
	text, raw := rawAnswer(err)
	return raw && text == pageNotFound && apierrors.IsNotFound(err)
}

// noAPIServer reports whether an error came from something in front of the API server, such as a proxy with an error
// page. Such an error doesn't mean that an object is absent.
func noAPIServer(err error, status apierrors.APIStatus) bool {
	text, raw := rawAnswer(err)
	if !raw {
		return false
	}
	switch status.Status().Code {
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return true
	case http.StatusNotFound:
		return text != pageNotFound
	}
	return false
}

// rawAnswer returns the text of a response that isn't a Status. raw is false if the response is a Status.
func rawAnswer(err error) (text string, raw bool) {
	cause, raw := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	return strings.TrimSpace(cause.Message), raw
}

// refused reports whether the content of an object was refused. Another try would be refused, too.
func refused(err error, status apierrors.APIStatus) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsUnsupportedMediaType(err) || unknownField(status) || tooLarge(status) || portTaken(status)
}

// unknownField reports whether an apply was refused because of an unknown field. The API server returns 500 without a
// reason, so only the text distinguishes this from a failure of the API server. If the guess is wrong, the message is
// misleading, with no other effect.
func unknownField(status apierrors.APIStatus) bool {
	message := status.Status().Message
	return strings.Contains(message, "failed to create typed patch object") || strings.Contains(message, "failed to convert new object")
}

// tooLarge reports whether the storage of the API server refused an object because of its size. Only the text of the
// error shows this.
func tooLarge(status apierrors.APIStatus) bool {
	message := status.Status().Message
	return strings.Contains(message, "etcdserver: request is too large") || strings.Contains(message, "trying to send message larger than max")
}

// portTaken reports whether a Service was refused because another Service has its health check port. The response
// doesn't name the field.
func portTaken(status apierrors.APIStatus) bool {
	message := status.Status().Message
	return strings.Contains(message, "HealthCheck NodePort") && strings.Contains(message, "port is already allocated")
}

// causes returns the fields that a refusal names.
func causes(status apierrors.APIStatus) []deploy.InvalidField {
	details := status.Status().Details
	if details == nil {
		return nil
	}
	var fields []deploy.InvalidField
	for _, cause := range details.Causes {
		if cause.Type != metav1.CauseTypeUnexpectedServerResponse {
			fields = append(fields, deploy.InvalidField{Field: cause.Field, Message: cause.Message})
		}
	}
	return fields
}

func forbidden(err error, f failed) error {
	resource := f.resource.GroupResource()
	if f.subresource != "" {
		resource.Resource += "/" + f.subresource
	}
	refused := &deploy.ForbiddenError{Verb: f.verb, Resource: resource, Namespace: f.ref.Namespace, Name: f.ref.Name, Err: err}
	refused.Content = refusesContent(err, f) && !refused.MissingRight()
	return refused
}

// refusesContent reports whether admission refused the content of a write. It returns false if a quota is exceeded or
// the namespace is being deleted, because then any content is refused.
func refusesContent(err error, f failed) bool {
	if f.verb != "create" && f.verb != "update" && f.verb != "patch" || apierrors.HasStatusCause(err, "NamespaceTerminating") {
		return false
	}
	return !strings.Contains(err.Error(), "exceeded quota: ") && !strings.Contains(err.Error(), "status unknown for quota: ")
}

// conflict returns a ConflictError if other managers own fields, and a StaleError if the object changed meanwhile.
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

// otherObject reports whether a write was refused because the object has another uid. The API server reports that as an
// invalid change of the uid.
func otherObject(status apierrors.APIStatus) bool {
	details := status.Status().Details
	if status.Status().Reason != metav1.StatusReasonInvalid || details == nil {
		return false
	}
	return slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" })
}

// unavailable reports whether the same request may succeed later. This includes a list from a resourceVersion that is
// too old, because the next try requests another version.
func unavailable(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsUnexpectedServerError(err) || isExpired(err)
}
