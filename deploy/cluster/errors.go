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

// failed says which request an error answers.
type failed struct {
	verb        string
	resource    resource
	ref         deploy.Ref
	subresource string
	// copied: the answer is to be an object of its own, of a read, whose caller may change it, or of a dry run,
	// which is answered by what would be under the version of what is.
	copied bool
	// partial: the answer has only metadata.
	partial bool
}

// typed turns a client's error into one of package deploy. What it doesn't know it only gives a subject. ctx is the caller's: its end is no fault of the cluster.
func typed(ctx context.Context, err error, f failed) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return unanswered(ctx, err, f)
	}
	switch {
	case noAPIServer(status):
		return &deploy.UnavailableError{Ref: f.ref, Err: fmt.Errorf("what answered is no API server: %w", err)}
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
		// A token may be renewed any moment, so that trying again makes sense.
		return &deploy.UnavailableError{Ref: f.ref, Err: fmt.Errorf("it doesn't accept our credentials: %w", err)}
	case unavailable(err):
		return later(err, f)
	}
	return fmt.Errorf("%s: %s of %s: %w", f.ref, f.verb, f.resource.Resource, err)
}

// later is an answer after which the same request makes sense again.
func later(err error, f failed) error {
	after, _ := apierrors.SuggestsClientDelay(err)
	return &deploy.UnavailableError{Ref: f.ref, RetryAfter: time.Duration(after) * time.Second, Err: err}
}

// isAnswer tells whether an API server said something, be it no.
func isAnswer(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// unanswered is an error that no API server has sent. Either the caller's time is over, or
// the connection was refused, reset or cut, or what answered is no API server.
func unanswered(ctx context.Context, err error, f failed) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), noTimeLeft(err):
		if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
			err = fmt.Errorf("%w: %w", ended, err)
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

// noTimeLeft tells whether the client-side limit of requests would have let this one through
// only after the deadline of its context, which it says in no other way. The worst of a
// mistake here is the wrong type of an error that is one anyway.
func noTimeLeft(err error) bool {
	return strings.Contains(err.Error(), "would exceed context deadline")
}

// pageNotFound is what an API server says where it serves nothing at all.
const pageNotFound = "404 page not found"

// nothingServed tells whether not only the object is absent, but whatever it would be in.
func nothingServed(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	text, raw := rawAnswer(status)
	return raw && text == pageNotFound
}

// noAPIServer tells whether a refusal came from something before the API server, such as a
// proxy that shows a page of its own: an object isn't absent because of that.
func noAPIServer(status apierrors.APIStatus) bool {
	text, raw := rawAnswer(status)
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

// rawAnswer returns the text of an answer that wasn't a Status.
func rawAnswer(status apierrors.APIStatus) (text string, raw bool) {
	details := status.Status().Details
	if details == nil {
		return "", false
	}
	for _, cause := range details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return strings.TrimSpace(cause.Message), true
		}
	}
	return "", false
}

// refused tells whether the content of an object is at fault, so that to send it again would
// be refused again.
func refused(err error, status apierrors.APIStatus) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsUnsupportedMediaType(err) || unknownField(status) || tooLarge(status) || portTaken(status)
}

// unknownField tells whether an apply was refused for a field that its kind doesn't have. The
// API server answers that with 500 and no reason; its text is all there is to tell it from
// a failure of its own, and the worst of a mistake here is the wrong word in a message.
func unknownField(status apierrors.APIStatus) bool {
	message := status.Status().Message
	return strings.Contains(message, "failed to create typed patch object") || strings.Contains(message, "failed to convert new object")
}

// tooLarge does the same for an object that the API server takes and its storage doesn't.
func tooLarge(status apierrors.APIStatus) bool {
	message := status.Status().Message
	return strings.Contains(message, "etcdserver: request is too large") || strings.Contains(message, "trying to send message larger than max")
}

// portTaken does so for a port of a Service that another one has, of which no field is named.
func portTaken(status apierrors.APIStatus) bool {
	message := status.Status().Message
	return strings.Contains(message, "HealthCheck NodePort") && strings.Contains(message, "port is already allocated")
}

// causes are the fields that an API server names in its refusal.
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

// refusesContent reports whether admission refused a write for what is written. A quota that is used up and a namespace
// that is being deleted refuse any content.
func refusesContent(err error, f failed) bool {
	if f.verb != "create" && f.verb != "update" && f.verb != "patch" || apierrors.HasStatusCause(err, "NamespaceTerminating") {
		return false
	}
	return !strings.Contains(err.Error(), "exceeded quota: ") && !strings.Contains(err.Error(), "status unknown for quota: ")
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

// unavailable tells whether the same request may be answered otherwise later. A version that
// is too old is among these: whoever asks anew asks for another one.
func unavailable(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsUnexpectedServerError(err) || isExpired(err)
}
