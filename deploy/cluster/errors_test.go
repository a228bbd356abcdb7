package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestTyped(t *testing.T) {
	t.Parallel()
	configMaps := schema.GroupResource{Resource: "configmaps"}
	request := failed{verb: "patch", resource: resource{GroupVersionResource: configMaps.WithVersion("v1")}, ref: settingsRef}
	ofStatus := request
	ofStatus.subresource = "status"
	invalid := func(path *field.Path) error {
		return apierrors.NewInvalid(settingsKind.GroupKind(), "settings", field.ErrorList{field.Invalid(path, "x", "field is immutable")})
	}
	contested := apierrors.NewApplyConflict([]metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.a", Message: `conflict with "x"`},
	}, "conflict")
	for name, test := range map[string]struct {
		err     error
		request failed
		want    func(err error) error
	}{
		"404": {apierrors.NewNotFound(configMaps, "settings"), request, func(err error) error { return &deploy.NotFoundError{Ref: settingsRef, Err: err} }},
		"403": {apierrors.NewForbidden(configMaps, "settings", errors.New("no")), request, func(err error) error {
			return &deploy.ForbiddenError{Verb: "patch", Resource: configMaps, Namespace: "shop", Name: "settings", Content: true, Err: err}
		}},
		"403 of a right": {apierrors.NewForbidden(configMaps, "settings", errors.New(`User "u" cannot patch resource "configmaps" in API group "" in the namespace "shop"`)), request, func(err error) error {
			return &deploy.ForbiddenError{Verb: "patch", Resource: configMaps, Namespace: "shop", Name: "settings", Err: err}
		}},
		"403 of a used up quota": {apierrors.NewForbidden(configMaps, "settings", errors.New("exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1")), request, func(err error) error {
			return &deploy.ForbiddenError{Verb: "patch", Resource: configMaps, Namespace: "shop", Name: "settings", Err: err}
		}},
		"403 of a subresource": {apierrors.NewForbidden(configMaps, "settings", errors.New("no")), ofStatus, func(err error) error {
			return &deploy.ForbiddenError{Verb: "patch", Resource: schema.GroupResource{Resource: "configmaps/status"}, Namespace: "shop", Name: "settings", Content: true, Err: err}
		}},
		"deploy W5: 409 over a version": {apierrors.NewConflict(configMaps, "settings", errors.New("old")), request, func(err error) error {
			return &deploy.StaleError{Ref: settingsRef, Err: err}
		}},
		"deploy W5: 409 over fields": {contested, request, func(err error) error {
			return &deploy.ConflictError{Ref: settingsRef, Fields: []deploy.FieldConflict{{Field: ".data.a", Manager: "x", Message: `conflict with "x"`}}, Err: err}
		}},
		"422": {invalid(field.NewPath("spec")), request, func(err error) error {
			return &deploy.InvalidError{Ref: settingsRef, Causes: []deploy.InvalidField{{Field: "spec", Message: `Invalid value: "x": field is immutable`}}, Err: err}
		}},
		"422 over the uid": {invalid(field.NewPath("metadata", "uid")), request, func(err error) error {
			return &deploy.StaleError{Ref: settingsRef, Err: err}
		}},
		"400": {apierrors.NewBadRequest("no"), request, func(err error) error { return &deploy.InvalidError{Ref: settingsRef, Err: err} }},
		"deploy W9: 429 with Retry-After": {apierrors.NewTooManyRequests("later", 7), request, func(err error) error {
			return &deploy.UnavailableError{Ref: settingsRef, RetryAfter: 7 * time.Second, Err: err}
		}},
		"500": {apierrors.NewInternalError(errors.New("no")), request, func(err error) error { return &deploy.UnavailableError{Ref: settingsRef, Err: err} }},
		"503": {apierrors.NewServiceUnavailable("no"), request, func(err error) error { return &deploy.UnavailableError{Ref: settingsRef, Err: err} }},
		"504": {apierrors.NewTimeoutError("no", 3), request, func(err error) error {
			return &deploy.UnavailableError{Ref: settingsRef, RetryAfter: 3 * time.Second, Err: err}
		}},
		"502 that is no Kubernetes": {apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", configMaps, "settings", "<html>", 0, true), request, func(err error) error {
			return &deploy.UnavailableError{Ref: settingsRef, Err: err}
		}},
		"no answer": {errors.New("connection refused"), request, func(err error) error { return &deploy.UnavailableError{Ref: settingsRef, Err: err} }},
		"a name that is taken": {apierrors.NewAlreadyExists(configMaps, "settings"), request, func(err error) error {
			return &deploy.AlreadyExistsError{Ref: settingsRef, Err: err}
		}},
		"410 in the middle of a list": {apierrors.NewResourceExpired("too old"), request, func(err error) error {
			return &deploy.UnavailableError{Ref: settingsRef, Err: err}
		}},
		"413": {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), request, func(err error) error { return &deploy.InvalidError{Ref: settingsRef, TooLarge: true, Err: err} }},
		"too large for etcd": {apierrors.NewInternalError(errors.New("etcdserver: request is too large")), request, func(err error) error {
			return &deploy.InvalidError{Ref: settingsRef, Causes: []deploy.InvalidField{{Message: "etcdserver: request is too large"}}, TooLarge: true, Err: err}
		}},
		"415: a patch of no use": {apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", configMaps, "settings", "no", 0, false), request, func(err error) error {
			return &deploy.InvalidError{Ref: settingsRef, Err: err}
		}},
		"content that can't be converted": {apierrors.NewInternalError(errors.New("failed to convert new object (shop/settings; v1): no such form")), request, func(err error) error {
			return &deploy.InvalidError{Ref: settingsRef, Causes: []deploy.InvalidField{{Message: "failed to convert new object (shop/settings; v1): no such form"}}, Err: err}
		}},
		"405 gets a subject": {apierrors.NewMethodNotSupported(configMaps, "patch"), request, func(err error) error {
			return fmt.Errorf("%s: %s of %s: %w", settingsRef, request.verb, request.resource.Resource, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := typed(t.Context(), test.err, test.request)
			assert.Equal(t, test.want(test.err), got)
			require.ErrorIs(t, got, test.err, "the cause is kept")
		})
	}
}
