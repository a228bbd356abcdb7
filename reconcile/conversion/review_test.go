package conversion_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReviews(t *testing.T) {
	t.Parallel()
	review := func(request string) string {
		return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":` + request + `}`
	}
	const good, bad = `{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"a"},"spec":{"count":1}}`, `{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"b"},"spec":{"colour":"invisible"}}`
	for _, row := range []struct {
		reason, body string
		status       int
		says         string
	}{
		{"not JSON", "x", 400, "isn't a ConversionReview"},
		{"another kind", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, "want a ConversionReview"},
		{"no request", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`, 400, "want a ConversionReview"},
		{"a request without a uid", review(`{"objects":[]}`), 400, "with a request"},
		{"too much", review(`{"uid":"` + strings.Repeat("x", 9<<20) + `"}`), 413, "larger than"},
	} {
		t.Run("conversion 5: "+row.reason+" is refused", func(t *testing.T) {
			t.Parallel()
			status, body, _ := convertOverHTTP(t, row.body)
			assert.Equal(t, row.status, status)
			assert.Contains(t, body, row.says)
		})
	}
	for _, row := range []struct {
		reason, request string
		says            []string
	}{
		{"an object that can't be converted fails all, and each is named", `{"uid":"1","desiredAPIVersion":"example.com/v2","objects":[` + good + `,` + bad + `,` + bad + `]}`,
			[]string{"Shop /b: to version v2: spec.colour: it can't be invisible\nShop /b"}},
		{"an object that isn't one", `{"uid":"1","desiredAPIVersion":"example.com/v2","objects":[3]}`, []string{"an object of the request isn't one"}},
		{"a version of another group", `{"uid":"1","desiredAPIVersion":"other.com/v2","objects":[` + good + `]}`, []string{"desiredAPIVersion other.com/v2"}},
	} {
		t.Run("conversion 6: "+row.reason, func(t *testing.T) {
			t.Parallel()
			status, body, log := convertOverHTTP(t, review(row.request))
			require.Equal(t, http.StatusOK, status)
			var answer struct {
				Response struct {
					UID              string
					ConvertedObjects []any
					Result           metav1.Status
				}
			}
			require.NoError(t, json.Unmarshal([]byte(body), &answer))
			assert.Equal(t, "1", answer.Response.UID)
			assert.Empty(t, answer.Response.ConvertedObjects)
			assert.Equal(t, metav1.StatusFailure, answer.Response.Result.Status)
			for _, text := range row.says {
				assert.Contains(t, answer.Response.Result.Message, text)
			}
			assert.Contains(t, log, "objects can't be converted")
		})
	}
}

// hangUp is the end of a body, at which its sender hangs up.
type hangUp func()

func (h hangUp) Read([]byte) (int, error) {
	h()
	return 0, io.EOF
}

func TestNobodyWaits(t *testing.T) {
	t.Run("conversion 6: nothing is logged when the API server no longer waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log testlog.Text
		converter := shops(t)
		body := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"example.com/v1","objects":[{}]}}`
		from := httptest.NewRequest(http.MethodPost, converter.Path(), io.MultiReader(strings.NewReader(body), hangUp(cancel))).WithContext(ctx)
		answer := httptest.NewRecorder()
		converter.Handler(slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(answer, from)
		assert.Contains(t, answer.Body.String(), "context canceled")
		assert.Empty(t, log.String())
	})
}

// convertOverHTTP posts a body and returns the HTTP status, the answer and the log.
func convertOverHTTP(t *testing.T, body string) (int, string, string) {
	t.Helper()
	var log testlog.Text
	converter := shops(t)
	answer := httptest.NewRecorder()
	converter.Handler(slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, converter.Path(), strings.NewReader(body)))
	return answer.Code, answer.Body.String(), log.String()
}
