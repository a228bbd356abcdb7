package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// What answers isn't always an API server.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"HTML": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>log in</html>"))
		},
		"HTML with 503": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("<html>down</html>"))
		},
		"closes": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"kind":"APIResourceList"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			c := newCluster(t, &rest.Config{Host: server.URL})
			unavailable(t, func() error { _, err := c.Port().Scope(t.Context(), configMap); return err })
			_, err := deploy.NewManager(c).Apply(t.Context(), []*unstructured.Unstructured{object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")})
			unavailable(t, func() error { return err })
		})
	}
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		release := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}))
		t.Cleanup(server.Close)
		t.Cleanup(func() { close(release) })
		c := newCluster(t, &rest.Config{Host: server.URL})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Port().Scope(ctx, configMap)
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		c := newCluster(t, &rest.Config{Host: server.URL})
		unavailable(t, func() error { _, err := c.Port().Scope(t.Context(), configMap); return err })
	})
}

// Whoever asked knows how long it may take: the port answers at once.
func TestNothingIsRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodGet {
					_, _ = w.Write([]byte(`{"resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`))
					return
				}
				requests.Add(1)
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(code)
				_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"details":{"retryAfterSeconds":7}}`, code)
			}))
			t.Cleanup(server.Close)
			c := newCluster(t, &rest.Config{Host: server.URL})
			obj := object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
			_, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
			var unavailable *deploy.UnavailableError
			require.ErrorAs(t, err, &unavailable)
			assert.Equal(t, 7*time.Second, unavailable.RetryAfter, "deploy W9: what the server asked for")
			assert.EqualValues(t, 1, requests.Load())
		})
	}
}

func unavailable(t *testing.T, call func() error) {
	t.Helper()
	err := call()
	var unavailable *deploy.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	assert.NotNil(t, unavailable.Err)
}
