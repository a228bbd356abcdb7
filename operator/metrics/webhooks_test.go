package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/operator/metrics"
	"github.com/stretchr/testify/assert"
)

func TestWebhook(t *testing.T) {
	t.Parallel()
	m := metrics.New("shop-operator", "v1")
	for _, row := range []struct {
		reason string
		answer http.HandlerFunc
		line   string
	}{
		{"an answer", func(to http.ResponseWriter, _ *http.Request) { _, _ = to.Write([]byte("{}")) },
			`operkit_webhook_request_duration_seconds_count{code="200",webhook="validate"} 1`},
		{"a refusal", func(to http.ResponseWriter, _ *http.Request) { http.Error(to, "no", http.StatusBadRequest) },
			`operkit_webhook_request_duration_seconds_count{code="400",webhook="validate"} 1`},
	} {
		m.Webhook("validate", row.answer).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
		page := httptest.NewRecorder()
		m.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		assert.Contains(t, page.Body.String(), row.line, row.reason)
	}
}

func ExampleMetrics_Webhook() {
	m := metrics.New("shop-operator", "v1")
	handler := m.Webhook("validate.shop.example.com", http.NotFoundHandler())
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
	page := httptest.NewRecorder()
	m.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(page.Body.String()) {
		if strings.HasPrefix(line, "operkit_webhook_request_duration_seconds_count") {
			fmt.Print(line)
		}
	}
	// Output: operkit_webhook_request_duration_seconds_count{code="404",webhook="validate.shop.example.com"} 1
}

func ExampleMetrics_Certificate() {
	m := metrics.New("shop-operator", "v1")
	m.Certificate(func() time.Time { return time.Unix(1800000000, 0) })
	page := httptest.NewRecorder()
	m.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(page.Body.String()) {
		if strings.HasPrefix(line, "operkit_webhook_certificate") {
			fmt.Print(line)
		}
	}
	// Output: operkit_webhook_certificate_expiration_timestamp_seconds 1.8e+09
}
