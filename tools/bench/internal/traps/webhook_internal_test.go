package traps

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestWebhook(t *testing.T) {
	t.Parallel()
	hook, err := serveWebhook()
	require.NoError(t, err)
	t.Cleanup(hook.stop)
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(hook.authority), "what proves it is PEM")
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	t.Cleanup(transport.CloseIdleConnections)
	ask := func(body []byte) (int, admissionv1.AdmissionReview) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hook.url, bytes.NewReader(body))
		require.NoError(t, err)
		answer, err := (&http.Client{Transport: transport}).Do(request)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		var review admissionv1.AdmissionReview
		if answer.StatusCode == http.StatusOK {
			require.NoError(t, json.NewDecoder(answer.Body).Decode(&review))
		}
		return answer.StatusCode, review
	}
	review := func(object string) []byte {
		request := &admissionv1.AdmissionRequest{UID: "u", Object: runtime.RawExtension{Raw: []byte(object)}}
		body, err := json.Marshal(admissionv1.AdmissionReview{Request: request})
		require.NoError(t, err)
		return body
	}
	for reason, row := range map[string]struct {
		body  []byte
		code  int
		patch string
	}{
		"a Deployment without it": {
			review(`{"spec":{"template":{"spec":{"containers":[{"name":"web"}]}}}}`), 200,
			`[{"op":"add","path":"/spec/template/spec/containers/-",
				"value":{"name":"sidecar","image":"registry.example/sidecar:1.0","resources":{}}}]`,
		},
		"one that has it": {
			review(`{"spec":{"template":{"spec":{"containers":[{"name":"web"},{"name":"sidecar"}]}}}}`), 200, "",
		},
		"something else":          {review(`{"spec":[]}`), 400, ""},
		"not an admission review": {[]byte(`{}`), 400, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			code, got := ask(row.body)
			require.Equal(t, row.code, code)
			if row.code != http.StatusOK {
				return
			}
			require.NotNil(t, got.Response)
			assert.True(t, got.Response.Allowed)
			assert.Equal(t, "u", string(got.Response.UID))
			if row.patch == "" {
				assert.Empty(t, got.Response.Patch)
				return
			}
			assert.JSONEq(t, row.patch, string(got.Response.Patch))
		})
	}
}
