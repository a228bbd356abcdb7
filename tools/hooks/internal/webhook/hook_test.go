package webhook_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server until the test ends.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a server notices the end of a connection only then
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// newHook returns a hook until the test ends.
func newHook(t *testing.T, config webhook.Config) *webhook.Hook {
	t.Helper()
	h, err := webhook.New(config)
	require.NoError(t, err)
	t.Cleanup(h.Close)
	return h
}

func TestCall(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, http.MethodPost, r.Method)
		assert.Equal(t, "/sync", r.URL.Path)
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Equal(t, "Bearer abc", r.Header.Get("Authorization"))
		assert.Empty(t, r.Header.Get("If-None-Match"))
		_, _ = w.Write(append([]byte("got "), body...))
	})
	h := newHook(t, webhook.Config{URL: url + "/sync", Authorization: "Bearer abc"})
	for range 2 {
		response, err := h.Call(t.Context(), "a", []byte("{}"))
		require.NoError(t, err)
		assert.Equal(t, "got {}", string(response))
	}
}

func TestHostileHooks(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for _, row := range []struct {
		reason string
		handle http.HandlerFunc
		want   string
	}{
		{"an endless response", func(w http.ResponseWriter, _ *http.Request) {
			for part := []byte(strings.Repeat("a", 1<<16)); ; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}, "the response is larger than 1048576 bytes"},
		{"a small response that becomes a large one", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 100 {
				_, _ = z.Write(make([]byte, limit))
			}
			_ = z.Close()
		}, "the response is larger than 1048576 bytes"},
		{"endless headers", func(w http.ResponseWriter, _ *http.Request) {
			for range 1 << 14 {
				w.Header().Add("A", strings.Repeat("a", 100))
			}
		}, "server response headers exceeded"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no response within 500ms: make the hook faster, or raise its timeout"},
		{"silence in the middle", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "no response within 500ms"},
		{"its death in the middle", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "read the response: unexpected EOF"},
		{"its death before the response", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"a redirect to somebody else", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		}, "status 307 Temporary Redirect, expected 200: redirects aren't followed"},
		{"an error, in many lines, with what it was sent", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization")+" Traceback:\n\x1b[31m KeyError\x00 "+strings.Repeat("x", 1000), http.StatusInternalServerError)
		}, "status 500 Internal Server Error, expected 200: [hidden] [hidden] Traceback: [31m KeyError xxx"},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "status 204 No Content, expected 200"},
		{"not modified, although nothing was kept", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, "status 304 Not Modified"},
	} {
		t.Run("hooks 5: "+row.reason, func(t *testing.T) {
			t.Parallel()
			url := serve(t, row.handle)
			timeout := 20 * time.Second
			if strings.HasPrefix(row.reason, "silence") {
				timeout = 500 * time.Millisecond
			}
			h := newHook(t, webhook.Config{URL: url, MaxResponse: limit, Timeout: timeout, Authorization: "Bearer abc"})
			_, err := h.Call(t.Context(), "a", []byte("{}"))
			require.Error(t, err)
			assert.ErrorContains(t, err, row.want)
			assert.ErrorContains(t, err, "hook "+url)
			assert.Less(t, len(err.Error()), 800)
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "abc")
		})
	}
}

// The memory of a call is bounded by the limit, whatever a hook sends.
func TestMemory(t *testing.T) {
	const limit = 1 << 20
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<16); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	h := newHook(t, webhook.Config{URL: url, MaxResponse: limit})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := h.Call(t.Context(), "a", nil)
	runtime.ReadMemStats(&after)
	var size *limits.SizeError
	require.ErrorAs(t, err, &size)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*limit))
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "-5": 0, "soon": 0, "999999999999": 0, "99999999": 24 * time.Hour,
		"Mon, 02 Jan 2006 15:04:05 GMT": 0, "Sat, 01 Jan 2999 00:00:00 GMT": 24 * time.Hour,
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := newHook(t, webhook.Config{URL: url}).Call(t.Context(), "a", nil)
		var status *webhook.StatusError
		require.ErrorAs(t, err, &status)
		if value == "999999999999" {
			want = 24 * time.Hour
		}
		assert.Equal(t, want, status.RetryAfter, value)
		assert.Equal(t, http.StatusTooManyRequests, status.Code)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	calls := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		switch {
		case r.Header.Get("If-None-Match") == `"1"` && calls%2 == 0:
			w.WriteHeader(http.StatusNotModified)
			return
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write([]byte("first"))
	})
	call := func(h *webhook.Hook, subject string) string {
		response, err := h.Call(t.Context(), subject, nil)
		require.NoError(t, err)
		return string(response)
	}
	h := newHook(t, webhook.Config{URL: url, KeepTags: true})
	for range 3 {
		assert.Equal(t, "first", call(h, "a"))
	}
	assert.Equal(t, "first", call(h, "b"), "another subject has a response of its own")
	short := newHook(t, webhook.Config{URL: url, KeepTags: true, KeepFor: time.Nanosecond})
	assert.Equal(t, "first", call(short, "a"))
	assert.Equal(t, "first", call(short, "a"), "a response that isn't kept any more is asked for again")
	assert.Equal(t, 6, calls)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := newHook(t, webhook.Config{URL: s.URL}).Call(t.Context(), "a", nil)
	assert.ErrorContains(t, err, "certificate")
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	response, err := newHook(t, webhook.Config{URL: s.URL, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}).Call(t.Context(), "a", nil)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(response))
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for _, config := range []webhook.Config{{}, {URL: "file:///etc/passwd"}, {URL: "http://"}, {URL: "http://a", Timeout: -1}, {URL: "http://a", MaxResponse: -1}} {
		_, err := webhook.New(config)
		assert.ErrorContains(t, err, "hook ")
		assert.ErrorContains(t, err, config.URL)
	}
}
