package connect_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/hooks/internal/connect"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stored has the data of objects by "Kind namespace/name".
type stored map[string]map[string]string

// Get implements connect.Reader.
func (s stored) Get(_ context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	data, ok := s[ref.Kind.Kind+" "+ref.Namespace+"/"+ref.Name]
	if !ok {
		return nil, nil
	}
	content := map[string]any{}
	for key, text := range data {
		if ref.Kind.Kind == "Secret" {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		content[key] = text
	}
	return &unstructured.Unstructured{Object: map[string]any{"data": content}}, nil
}

// server is an HTTPS server that wants a certificate of the caller, and returns the header Authorization.
func server(t *testing.T) (address, authority string, pair tls.Certificate) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})), s.TLS.Certificates[0]
}

// keyPair returns a certificate and its key in PEM.
func keyPair(t *testing.T, pair tls.Certificate) (certificate, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// hookOf returns the sync hook of a definition with some settings of the webhook.
func hookOf(t *testing.T, address, settings string) (*definition.Common, *definition.Hook) {
	t.Helper()
	found, err := definition.Read([]byte(`
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: a}
spec:
  parentResource: {apiVersion: v1, resource: configmaps}
  hooks: {sync: {webhook: {url: "` + address + `"` + settings + `}}}
`))
	require.NoError(t, err)
	return &found[0].Common, found[0].Hooks.Sync
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	address, authority, pair := server(t)
	certificate, key := keyPair(t, pair)
	objects := stored{
		"ConfigMap hooks/ca": {"ca.crt": authority}, "Secret hooks/ca": {"other": authority},
		"Secret hooks/tls": {"tls.crt": certificate, "tls.key": key}, "Secret hooks/token": {"token": "abc\n"},
		"Secret hooks/basic": {"username": "me", "password": "secret"},
	}
	const client = ", clientTLS: {secretRef: {name: tls, namespace: hooks}}"
	inline := `, caBundle: {inline: "` + strings.ReplaceAll(authority, "\n", `\n`) + `"}`
	for reason, row := range map[string]struct{ settings, want string }{
		"certificates of a ConfigMap, with the default key": {client + ", caBundle: {configMapRef: {name: ca, namespace: hooks}}", ""},
		"of a Secret, with another key":                     {client + ", caBundle: {secretRef: {name: ca, namespace: hooks, key: other}}", ""},
		"of the definition":                                 {client + inline, ""},
		"a token, without the end of its line":              {client + inline + ", authorization: {secretRef: {name: token, namespace: hooks, key: token}}", "Bearer abc"},
		"a token of another type":                           {client + inline + ", authorization: {type: Token, secretRef: {name: token, namespace: hooks, key: token}}", "Token abc"},
		"a user and a password":                             {client + inline + ", basicAuth: {secretRef: {name: basic, namespace: hooks}}", "Basic bWU6c2VjcmV0"},
	} {
		common, hook := hookOf(t, address, row.settings)
		made, err := connect.Webhook(t.Context(), objects, common, hook)
		require.NoError(t, err, reason)
		response, err := made.Call(t.Context(), "a", nil)
		require.NoError(t, err, reason)
		assert.Equal(t, row.want, string(response), reason)
		made.Close()
	}
}

func TestMissingCredentials(t *testing.T) {
	t.Parallel()
	objects := stored{"Secret hooks/a": {"tls.crt": "secret text", "tls.key": "secret text", "lines": "one\nX-Header: secret text"}, "ConfigMap hooks/a": {"ca.crt": "no certificate"}}
	for reason, row := range map[string]struct{ settings, want string }{
		"no object":              {"caBundle: {configMapRef: {name: b, namespace: hooks}}", "caBundle: ConfigMap hooks/b: not found: create it"},
		"no key":                 {"caBundle: {secretRef: {name: a, namespace: hooks}}", "caBundle: Secret hooks/a: no key ca.crt: add it"},
		"no certificate":         {"caBundle: {configMapRef: {name: a, namespace: hooks}}", "caBundle: no certificate in PEM"},
		"no certificate of ours": {"clientTLS: {secretRef: {name: a, namespace: hooks}}", "clientTLS: Secret hooks/a: "},
		"a token of two lines":   {"authorization: {secretRef: {name: a, namespace: hooks, key: lines}}", "authorization: Secret hooks/a: key lines: must be one line of text"},
		"no password":            {"basicAuth: {secretRef: {name: a, namespace: hooks}}", "basicAuth: Secret hooks/a: no key username: add it"},
	} {
		t.Run("hooks 5: "+reason, func(t *testing.T) {
			t.Parallel()
			common, hook := hookOf(t, "https://hooks.example/sync", ", "+row.settings)
			_, err := connect.Webhook(t.Context(), objects, common, hook)
			assert.ErrorContains(t, err, "hook https://hooks.example/sync: "+row.want)
			assert.NotContains(t, err.Error(), "secret text")
		})
	}
}
