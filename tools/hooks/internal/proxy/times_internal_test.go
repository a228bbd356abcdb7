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
			connection := dial(t, access)
			_, err := io.WriteString(connection, head(access, "POST", writePath)+sent)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			content, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			assert.Equal(t, http.StatusRequestTimeout, response.StatusCode)
			assert.Contains(t, string(content), "hooks proxy: the body wasn't complete within 500ms")
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
	t.Run("hooks 49: a watch in which nothing happens goes on", func(t *testing.T) {
		t.Parallel()
		access := startBrief(t, limits, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			timer := time.NewTimer(3 * brief)
			defer timer.Stop()
			select {
			case <-r.Context().Done():
			case <-timer.C:
				_, _ = w.Write([]byte("event"))
			}
		})
		connection := dial(t, access)
		_, err := io.WriteString(connection, head(access, "GET", writePath+"?watch=true")+"\r\n")
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(t, err)
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, "event", string(content))
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
}
