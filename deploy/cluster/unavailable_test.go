package cluster_test

import (
	"context"
	"errors"
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
		"HTML with 404: nothing is absent because of that": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<html>no such page</html>"))
		},
		"JSON of somebody else": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`["hello"]`))
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
			_, err := must(deploy.NewManager(c)).Apply(t.Context(), []*unstructured.Unstructured{object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")})
			unavailable(t, func() error { return err })
		})
	}
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		c := newCluster(t, &rest.Config{Host: server.URL})
		unavailable(t, func() error { _, err := c.Port().Scope(t.Context(), configMap); return err })
	})
}

// The same for answers to an apply of a kind that is known.
func TestUnavailableApply(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"HTML": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in</html>")) },
		"HTML with 404": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<html>no such page</html>"))
		},
		"HTML with 409": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte("<html>conflict</html>"))
		},
		"closes": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half an object": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"kind":"ConfigMap"`))
		},
		"an object without a kind": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, &rest.Config{Host: serving(t, answer)})
			obj := object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
			unavailable(t, func() error {
				_, err := c.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "m"})
				return err
			})
			unavailable(t, func() error {
				_, err := c.View().Get(t.Context(), deploy.RefOf(obj))
				return err
			})
		})
	}
}

// The same for lists: whoever waits for one is told, and it is tried again.
func TestUnavailableList(t *testing.T) {
	t.Parallel()
	var back atomic.Bool
	c := newCluster(t, &rest.Config{Host: serving(t, func(w http.ResponseWriter, r *http.Request) {
		switch asked := r.URL.Query(); {
		case !back.Load(), asked.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("<html>bad request</html>"))
		case asked.Get("watch") != "":
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}`))
		}
	})})
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(deploy.Event) {})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	unavailable(t, func() error { return subscription.Synced(ctx) })
	back.Store(true)
	require.Eventually(t, func() bool { return subscription.Synced(ctx) == nil }, patience, 10*time.Millisecond)
}

// serving returns the address of a server that knows ConfigMaps and answers all else by answer.
func serving(t testing.TB, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1" {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap"}]}`))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// An API server that doesn't answer keeps nobody for ever, and whose time was over is told
// apart: the caller's deadline, the caller's own end, or the limit of a single request.
func TestHangs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	host := serving(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) }) // before the server is closed, which waits for its answers
	obj := object(t, "shop", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	apply := func(ctx context.Context, config *rest.Config) error {
		c := newCluster(t, config)
		_, err := c.Port().Scope(t.Context(), configMap)
		require.NoError(t, err)
		_, err = c.Port().Apply(ctx, obj, deploy.ApplyOptions{FieldManager: "m"})
		return err
	}
	soon := func(t *testing.T) context.Context {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	t.Run("the caller's deadline", func(t *testing.T) {
		t.Parallel()
		err := apply(soon(t), &rest.Config{Host: host})
		var late *deploy.TimeoutError
		require.ErrorAs(t, err, &late)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, deploy.RefOf(obj), late.Ref)
		assert.Equal(t, "no answer to patch of configmaps", late.Reason)
	})
	t.Run("the caller's deadline, in its own queue", func(t *testing.T) {
		t.Parallel()
		config := &rest.Config{Host: host, QPS: 0.01, Burst: 1}
		err := apply(soon(t), config) // the first of its burst went to discovery
		var late *deploy.TimeoutError
		require.ErrorAs(t, err, &late)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
	t.Run("the caller's own end", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(50*time.Millisecond, func() { cancel(enough) })
		err := apply(ctx, &rest.Config{Host: host})
		require.ErrorIs(t, err, enough)
		require.ErrorIs(t, err, context.Canceled)
		var unavailable *deploy.UnavailableError
		assert.False(t, errors.As(err, &unavailable), "it is no fault of the cluster")
	})
	t.Run("the limit of a single request", func(t *testing.T) {
		t.Parallel()
		err := apply(t.Context(), &rest.Config{Host: host, Timeout: time.Second}) // that of discovery, too
		var unavailable *deploy.UnavailableError
		require.ErrorAs(t, err, &unavailable)
		assert.ErrorContains(t, err, "no answer to patch of configmaps within 1s; the API server may have carried out the request")
		assert.NotErrorIs(t, err, context.DeadlineExceeded, "the caller has time left")
	})
	t.Run("discovery", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, &rest.Config{Host: host})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Port().Scope(ctx, configMap)
		require.ErrorIs(t, err, context.Canceled)
		_, err = c.Port().Scope(soon(t), deployment)
		var late *deploy.TimeoutError
		require.ErrorAs(t, err, &late)
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
