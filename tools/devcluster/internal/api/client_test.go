package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/devcluster/internal/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs handler behind TLS and returns a client of it that is authenticated as bob.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	authority, err := pki.NewAuthority("test")
	require.NoError(t, err)
	serving, err := authority.Server("server", "127.0.0.1")
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(serving.Certificate, serving.Key)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(authority.Pair().Certificate))
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	bob, err := authority.Client("bob")
	require.NoError(t, err)
	client, err := NewClient(server.URL, authority.Pair().Certificate, bob)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestClient(t *testing.T) {
	t.Parallel()
	var calls []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls = append(calls, strings.TrimSpace(strings.Join([]string{
			r.TLS.PeerCertificates[0].Subject.CommonName, r.Proto, r.Method, r.URL.Path, string(body),
		}, " ")))
		_, _ = w.Write([]byte(`{"name": "x"}`))
	})
	var got struct{ Name string }
	require.NoError(t, client.Get(t.Context(), "/a", &got))
	assert.Equal(t, "x", got.Name)
	require.NoError(t, client.Get(t.Context(), "/b", nil))
	require.NoError(t, client.Create(t.Context(), "/c", map[string]int{"n": 1}, nil))
	require.NoError(t, client.Delete(t.Context(), "/d"))
	require.NoError(t, client.Healthy(t.Context(), client.server+"/e"))
	assert.Equal(t, []string{
		"bob HTTP/2.0 GET /a", "bob HTTP/2.0 GET /b", `bob HTTP/2.0 POST /c {"n":1}`,
		"bob HTTP/2.0 DELETE /d", "bob HTTP/2.0 GET /e",
	}, calls)
}

func TestClientErrors(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"kind": "Status", "message": "widgets \"a\" not found"}`))
		case "/text":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("[-]etcd failed\n"))
		default:
			_, _ = w.Write([]byte("not JSON"))
		}
	})
	err := client.Get(t.Context(), "/missing", nil)
	require.ErrorContains(t, err, `/missing: 404 Not Found: widgets "a" not found`)
	assert.True(t, IsNotFound(err))

	err = client.Get(t.Context(), "/text", nil)
	require.ErrorContains(t, err, "/text: 500 Internal Server Error: [-]etcd failed")
	assert.False(t, IsNotFound(err))
	assert.False(t, IsNotFound(errors.New("another")))

	var into map[string]any
	assert.ErrorContains(t, client.Get(t.Context(), "/odd", &into), "/odd: answer: ")
	assert.ErrorContains(t, client.Create(t.Context(), "/c", func() {}, nil), "POST /c: json: unsupported type")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, client.Get(ctx, "/a", nil), context.Canceled)
}

func TestClientTrustsOnlyItsAuthority(t *testing.T) {
	t.Parallel()
	client := serve(t, func(http.ResponseWriter, *http.Request) {})
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a call of a client of another authority") })
	err := client.Healthy(t.Context(), other.server+"/readyz")
	var unknown x509.UnknownAuthorityError
	assert.ErrorAs(t, err, &unknown)
}

func TestNewClientRefuses(t *testing.T) {
	t.Parallel()
	_, err := NewClient("https://127.0.0.1:1", nil, pki.Pair{})
	require.EqualError(t, err, "api client: no certificate authority in PEM form")
	authority, err := pki.NewAuthority("test")
	require.NoError(t, err)
	_, err = NewClient("https://127.0.0.1:1", authority.Pair().Certificate, pki.Pair{})
	assert.ErrorContains(t, err, "api client: tls: ")
}
