package proxy

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// brief is a limit that a busy machine keeps for what isn't to end.
const brief = 500 * time.Millisecond

// startBrief runs a proxy with short times, to an API server with handle, and gives access to a run that may write
// ConfigMaps.
func startBrief(t *testing.T, limits times, handle http.HandlerFunc) *Access {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/api":
			_, _ = w.Write([]byte(`{"versions":["v1"]}`))
		case "/apis":
			_, _ = w.Write([]byte(`{"groups":[]}`))
		case "/api/v1":
			_, _ = w.Write([]byte(`{"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true}]}`))
		default:
			handle(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p, err := New(t.Context(), Config{API: &rest.Config{Host: server.URL}, times: limits})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	owner := &unstructured.Unstructured{}
	owner.SetAPIVersion("example.com/v1")
	owner.SetKind("Cat")
	owner.SetNamespace("a")
	owner.SetName("tom")
	owner.SetUID("uid")
	access, err := p.Issue(Grant{Owner: owner, ServiceAccount: types.NamespacedName{Namespace: "a", Name: "b"}, Kinds: []schema.GroupKind{{Kind: "ConfigMap"}}})
	require.NoError(t, err)
	return access
}

// dial returns a connection to the proxy.
func dial(t *testing.T, access *Access) net.Conn {
	t.Helper()
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(access.proxy.authority))
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(access.proxy.address, "https://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	require.NoError(t, connection.SetDeadline(time.Now().Add(time.Minute)))
	return connection
}

// head returns the first lines of a request.
func head(access *Access, method, path string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + access.token + "\r\n"
}

const writePath = "/api/v1/namespaces/a/configmaps"

// exchange sends text on a connection, and returns the code of the response and its body.
func exchange(t *testing.T, connection net.Conn, text string) (int, string) {
	t.Helper()
	_, err := io.WriteString(connection, text)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

// late returns a response after a while.
func late(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(3 * brief)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
		_, _ = w.Write([]byte("{}"))
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	limits := times{header: brief, body: brief, stall: brief, idle: brief}
	empty := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }
	for reason, begin := range map[string]string{"half a header": "GET / HTTP/1.1\r\nHost", "nothing": ""} {
		t.Run("hooks 49: "+reason+", and no more", func(t *testing.T) {
			t.Parallel()
			connection := dial(t, startBrief(t, limits, empty))
			_, err := io.WriteString(connection, begin)
			require.NoError(t, err)
			_, err = io.ReadAll(connection)
			assert.NoError(t, err, "the connection is closed")
		})
	}
	t.Run("hooks 49: connections that nobody uses hold up others for a while only", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, limits, empty)
		var dialer net.Dialer
		began := time.Now()
		for range maxConnections + 8 {
			connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(access.proxy.address, "https://"))
			require.NoError(t, err)
			defer func() { _ = connection.Close() }()
		}
		connection := dial(t, access)
		_, err := io.WriteString(connection, head(access, "GET", writePath)+"\r\n")
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.GreaterOrEqual(t, time.Since(began), brief)
	})
	for reason, sent := range map[string]string{"half a body": "Content-Length: 10\r\n\r\n{", "a chunk": "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
		t.Run("hooks 49: "+reason+", and no more", func(t *testing.T) {
			t.Parallel()
			access := startBrief(t, limits, empty)
			code, content := exchange(t, dial(t, access), head(access, "POST", writePath)+sent)
			assert.Equal(t, http.StatusRequestTimeout, code)
			assert.Contains(t, content, "hooks proxy: the body wasn't complete within 500ms")
		})
	}
	t.Run("hooks 49: a connection without a request", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, limits, empty)
		connection := dial(t, access)
		_, err := io.WriteString(connection, head(access, "GET", writePath)+"\r\n")
		require.NoError(t, err)
		content, err := io.ReadAll(connection)
		require.NoError(t, err, "it is closed after the response")
		assert.True(t, strings.HasSuffix(string(content), "{}"), string(content))
	})
	t.Run("hooks 49: a response that nobody takes", func(t *testing.T) {
		t.Parallel()
		gone := make(chan string)
		access := startBrief(t, limits, func(w http.ResponseWriter, _ *http.Request) {
			defer close(gone)
			for part := make([]byte, 1<<16); ; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		})
		_, err := io.WriteString(dial(t, access), head(access, "GET", writePath)+"\r\n")
		require.NoError(t, err)
		<-gone
	})
	t.Run("hooks 49: half a body of a request that is refused", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, limits, empty)
		code, _ := exchange(t, dial(t, access), head(access, "POST", "/api/v1/nodes")+"Content-Length: 10\r\n\r\n{")
		assert.Equal(t, http.StatusNotFound, code)
	})
	t.Run("hooks 49: what the API server takes time for goes on", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, limits, late)
		for method, rest := range map[string]string{"GET": "\r\n", "POST": "Content-Length: 2\r\n\r\n{}"} {
			code, content := exchange(t, dial(t, access), head(access, method, writePath)+rest)
			assert.Equal(t, "200 {}", fmt.Sprint(code, " ", content), method)
		}
	})
	t.Run("hooks 49: a watch ends as the API server ends it", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, limits, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("event"))
			_ = http.NewResponseController(w).Flush()
			timer := time.NewTimer(3 * brief)
			defer timer.Stop()
			<-timer.C
		})
		code, content := exchange(t, dial(t, access), head(access, "GET", writePath+"?watch=true")+"\r\n")
		assert.Equal(t, "200 event", fmt.Sprint(code, " ", content))
	})
	t.Run("hooks 49: the time of one response isn't that of the next", func(t *testing.T) {
		t.Parallel()
		patient := limits
		patient.idle = time.Minute
		access := startBrief(t, patient, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" {
				empty(w, r)
				return
			}
			timer := time.NewTimer(3 * brief)
			defer timer.Stop()
			<-timer.C
			w.WriteHeader(http.StatusNotModified)
		})
		connection := dial(t, access)
		code, _ := exchange(t, connection, head(access, "GET", writePath)+"\r\n")
		assert.Equal(t, http.StatusOK, code)
		code, _ = exchange(t, connection, head(access, "GET", writePath)+"If-None-Match: a\r\n\r\n")
		assert.Equal(t, http.StatusNotModified, code)
	})
}

// begun waits until a run has a number of requests under way.
func begun(t *testing.T, access *Access, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		access.mu.Lock()
		defer access.mu.Unlock()
		return access.count == want
	}, time.Minute, time.Millisecond)
}

func TestEndOfABody(t *testing.T) {
	t.Parallel()
	t.Run("hooks 46: a body under way", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, defaultTimes, late)
		_, err := io.WriteString(dial(t, access), head(access, "POST", writePath)+"Content-Length: 10\r\n\r\n{")
		require.NoError(t, err)
		begun(t, access, 1)
		began := time.Now()
		access.End()
		assert.Less(t, time.Since(began), defaultTimes.body/2)
		assert.Empty(t, access.proxy.accesses, "nothing of it is kept")
	})
}

// A run has few bodies in memory, however many writes it sends.
func TestBodiesInMemory(t *testing.T) {
	t.Parallel()
	t.Run("hooks 50: the bodies of a run at the same time are bounded", func(t *testing.T) {
		t.Parallel()
		var now, most atomic.Int32
		full, release := make(chan string), make(chan string)
		access := startBrief(t, defaultTimes, func(w http.ResponseWriter, _ *http.Request) {
			if got := now.Add(1); got > most.Load() {
				most.Store(got)
				if got == maxBodies {
					close(full)
				}
			}
			defer now.Add(-1)
			<-release
			_, _ = w.Write([]byte("{}"))
		})
		var connections []net.Conn
		for range 3 * maxBodies {
			connection := dial(t, access)
			_, err := io.WriteString(connection, head(access, "POST", writePath)+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 2, "{}"))
			require.NoError(t, err)
			connections = append(connections, connection)
		}
		<-full
		close(release)
		for _, connection := range connections {
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, response.StatusCode)
			_ = response.Body.Close()
		}
		assert.EqualValues(t, maxBodies, most.Load())
	})
	t.Run("hooks 50: waiting for others doesn't count as silence", func(t *testing.T) {
		t.Parallel()
		release := make(chan string)
		limits := times{header: time.Minute, body: 2 * time.Second, stall: time.Minute, idle: time.Minute}
		access := startBrief(t, limits, func(w http.ResponseWriter, _ *http.Request) {
			<-release
			_, _ = w.Write([]byte("{}"))
		})
		for range maxBodies {
			_, err := io.WriteString(dial(t, access), head(access, "POST", writePath)+"Content-Length: 2\r\n\r\n{}")
			require.NoError(t, err)
		}
		require.Eventually(t, func() bool { return len(access.bodies) == maxBodies }, time.Minute, time.Millisecond)
		waiting := dial(t, access)
		_, err := io.WriteString(waiting, head(access, "POST", writePath)+"Content-Length: 2\r\n\r\n")
		require.NoError(t, err)
		begun(t, access, maxBodies+1)
		timer := time.NewTimer(limits.body + brief)
		<-timer.C
		close(release)
		code, content := exchange(t, waiting, "{}")
		assert.Equal(t, http.StatusOK, code, content)
	})
}
