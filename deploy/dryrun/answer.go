package dryrun

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answered returns the error of package deploy for the error of a server about a request. An error that isn't one of a
// server stays as it is.
func answered(call Call, ref deploy.Ref, d *declaration, err error) error {
	var server apierrors.APIStatus
	if !errors.As(err, &server) {
		return err
	}
	given := server.Status()
	resource := d.kind.GroupVersion().WithResource(d.plural).GroupResource()
	if call.Subresource != "" {
		resource.Resource += "/" + call.Subresource
	}
	verb := string(call.Verb)
	if call.Verb == VerbApply {
		verb = string(VerbPatch)
	}
	switch {
	case apierrors.IsNotFound(err):
		return &deploy.NotFoundError{Ref: ref, Err: err}
	case apierrors.IsForbidden(err):
		return &deploy.ForbiddenError{Verb: verb, Resource: resource, Namespace: ref.Namespace, Name: ref.Name, Content: call.Verb != VerbDelete, Err: err}
	case apierrors.IsAlreadyExists(err):
		return &deploy.AlreadyExistsError{Ref: ref, Err: err}
	case apierrors.IsConflict(err):
		return &deploy.StaleError{Ref: ref, Err: err}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err), apierrors.IsUnsupportedMediaType(err):
		return &deploy.InvalidError{Ref: ref, Causes: causesOf(given), TooLarge: apierrors.IsRequestEntityTooLargeError(err), Err: err}
	case given.Code >= http.StatusInternalServerError, apierrors.IsInternalError(err), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err),
		apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsUnauthorized(err):
		after, _ := apierrors.SuggestsClientDelay(err)
		return &deploy.UnavailableError{Ref: ref, RetryAfter: time.Duration(after) * time.Second, Err: err}
	}
	return fmt.Errorf("%s: %s of %s: %w", ref, verb, resource.Resource, err)
}

func causesOf(status metav1.Status) (fields []deploy.InvalidField) {
	if status.Details == nil {
		return nil
	}
	for _, cause := range status.Details.Causes {
		fields = append(fields, deploy.InvalidField{Field: cause.Field, Message: cause.Message})
	}
	return fields
}
