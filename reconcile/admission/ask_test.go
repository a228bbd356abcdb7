package admission_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var things = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// content is an object as a map.
type content = map[string]any

// webhooksOf returns the webhooks of hooks without mistakes.
func webhooksOf[T any](t *testing.T, hooks *admission.Hooks[T]) []*admission.Webhook {
	t.Helper()
	webhooks, err := hooks.Webhooks()
	require.NoError(t, err)
	return webhooks
}

// reviewOf returns the review of a request, with a uid and the kind Thing unless the request has another one.
func reviewOf(t *testing.T, request admissionv1.AdmissionRequest) []byte {
	t.Helper()
	request.UID = "request-1"
	if request.Kind.Kind == "" {
		request.Kind = metav1.GroupVersionKind(things)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: &request,
	})
	require.NoError(t, err)
	return body
}

// post sends a body to a webhook, which logs into log, and returns the HTTP status and the body of the answer.
func post(webhook *admission.Webhook, body []byte, log io.Writer) (int, []byte) {
	recorder := httptest.NewRecorder()
	from := httptest.NewRequest(http.MethodPost, webhook.Path()+"?timeout=10s", bytes.NewReader(body))
	webhook.Handler(slog.New(slog.NewTextHandler(log, nil))).ServeHTTP(recorder, from)
	return recorder.Code, recorder.Body.Bytes()
}

// ask sends a request to a webhook and returns its answer.
func ask(t *testing.T, webhook *admission.Webhook, request admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	status, body := post(webhook, reviewOf(t, request), io.Discard)
	require.Equal(t, http.StatusOK, status, "%s", body)
	return responseIn(t, body)
}

// responseIn returns the response of an answer.
func responseIn(t *testing.T, body []byte) *admissionv1.AdmissionResponse {
	t.Helper()
	var review admissionv1.AdmissionReview
	require.NoError(t, json.Unmarshal(body, &review))
	require.Equal(t, metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, review.TypeMeta)
	require.NotNil(t, review.Response)
	require.Equal(t, "request-1", string(review.Response.UID))
	return review.Response
}
