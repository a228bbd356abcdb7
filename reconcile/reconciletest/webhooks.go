package reconciletest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/smp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// webhooks asks webhooks about writes. It implements dryrun.Webhooks.
type webhooks struct {
	memory               *dryrun.Cluster
	mutating, validating []asked
	conversions          []dryrun.Conversion

	mu       sync.Mutex
	warnings []string
	asked    int
}

// Mutate implements dryrun.Webhooks. As on an API server, webhooks that ask for it are called a second time if a later
// one has changed the object, and each at most twice.
func (w *webhooks) Mutate(ctx context.Context, review *dryrun.Write) error {
	called, again := map[string]bool{}, map[string]bool{}
	for round := range 2 {
		for _, one := range w.mutating {
			if round == 1 && !again[one.Name] {
				continue
			}
			changed, err := w.mutate(ctx, one, review)
			if err != nil {
				return err
			}
			if changed {
				maps.Copy(again, called)
			}
			if one.ReinvocationPolicy != nil && *one.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy {
				called[one.Name] = true
			}
		}
	}
	return nil
}

// mutate asks one webhook, and reports whether it has changed the object.
func (w *webhooks) mutate(ctx context.Context, one asked, review *dryrun.Write) (changed bool, err error) {
	response, err := w.ask(ctx, one, review)
	if err != nil || response == nil || len(response.Patch) == 0 {
		return false, err
	}
	var operations any
	if err := apijson.Unmarshal(response.Patch, &operations); err != nil {
		return false, apierrors.NewInternalError(err)
	}
	inKind, err := w.inVersion(review.Object, one.kind.Version)
	if err != nil {
		return false, err
	}
	patched, err := smp.JSON(inKind.Object, operations)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	content, _ := patched.(map[string]any)
	after, err := w.inVersion(&unstructured.Unstructured{Object: content}, review.Ref.Kind.Version)
	if err == nil {
		review.Object = after
	}
	return true, err
}

// Validate implements dryrun.Webhooks. An API server calls all at the same time; here the first denial counts.
func (w *webhooks) Validate(ctx context.Context, review *dryrun.Write) error {
	var first error
	for _, one := range w.validating {
		if _, err := w.ask(ctx, one, review); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// ask asks one webhook about a write. The response is nil if the webhook isn't asked, or its failure is ignored.
func (w *webhooks) ask(ctx context.Context, one asked, review *dryrun.Write) (*admissionv1.AdmissionResponse, error) {
	matches, err := w.matches(ctx, one, review)
	if err != nil || !matches {
		return nil, err
	}
	request, err := w.request(ctx, one, review)
	if err != nil {
		return nil, err
	}
	response, err := one.call(ctx, request)
	switch {
	case err != nil && one.FailurePolicy != nil && *one.FailurePolicy == admissionregistrationv1.Ignore:
		return nil, nil
	case err != nil:
		return nil, apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: failed to call webhook: %w", one.Name, err))
	}
	w.mu.Lock()
	w.warnings = append(w.warnings, response.Warnings...)
	w.mu.Unlock()
	if !response.Allowed {
		return nil, denial(one.Name, response.Result)
	}
	return response, nil
}

// denial returns the error of an API server for a denial.
func denial(webhook string, result *metav1.Status) error {
	status := metav1.Status{}
	if result != nil {
		status = *result
	}
	status.Status = metav1.StatusFailure
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	explanation := "denied the request without explanation"
	if text := status.Message; text != "" {
		explanation = "denied the request: " + text
	} else if status.Reason != "" {
		explanation = "denied the request: " + string(status.Reason)
	}
	status.Message = fmt.Sprintf("admission webhook %q %s", webhook, explanation)
	return &apierrors.StatusError{ErrStatus: status}
}

// call sends a review to the handler of a webhook, as JSON.
func (a asked) call(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	seconds := int32(10)
	if a.TimeoutSeconds != nil {
		seconds = *a.TimeoutSeconds
	}
	within := time.Duration(seconds) * time.Second
	body, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		return nil, err
	}
	var review admissionv1.AdmissionReview
	if err := post(ctx, a.handler, "/"+a.Name+"?timeout="+within.String(), body, &review); err != nil {
		return nil, err
	}
	if review.Response == nil || review.Response.UID != request.UID {
		return nil, errors.New("the answer isn't one to this request")
	}
	return review.Response, nil
}

// post sends JSON to a handler, and decodes the answer.
func post(ctx context.Context, handler http.Handler, path string, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	to := &answering{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(to, request)
	if to.status != http.StatusOK {
		text := strings.TrimSpace(to.body.String())
		return apierrors.NewGenericServerResponse(to.status, "post", resourceless, "", text, 0, true)
	}
	return json.Unmarshal(to.body.Bytes(), answer)
}

// answering is the http.ResponseWriter of a request in memory.
type answering struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answering) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answering) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answering) Write(content []byte) (int, error) { return a.body.Write(content) }
