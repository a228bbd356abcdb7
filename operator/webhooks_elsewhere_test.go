package operator_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/internal/certificate"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// directory writes a certificate of somebody else into a directory, and returns it with its CAs.
func directory(t *testing.T) (dir string, cas []byte) {
	t.Helper()
	served, err := certificate.SelfSigned("127.0.0.1")
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(served.Certificates[0].PrivateKey)
	require.NoError(t, err)
	var chain bytes.Buffer
	for _, one := range served.Certificates[0].Certificate {
		require.NoError(t, pem.Encode(&chain, &pem.Block{Type: "CERTIFICATE", Bytes: one}))
	}
	dir = t.TempDir()
	for name, text := range map[string][]byte{
		"tls.crt": chain.Bytes(), "ca.crt": chain.Bytes(), "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir, chain.Bytes()
}

func TestWebhooksElsewhere(t *testing.T) {
	w := &crateWorld{world: newWorld(t, envtest.OwnCluster("--components=etcd,apiserver"), envtest.CRDs("testdata/webhooks"))}
	user := w.crateUser("elsewhere")
	painted := func(name, colour string) error {
		crate := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"colour": colour}}}
		crate.SetGroupVersionKind(crates)
		crate.SetNamespace(w.Namespace)
		crate.SetName(name)
		_, err := w.api.Port().Create(t.Context(), crate, deploy.CreateOptions{FieldManager: "somebody"})
		return err
	}
	t.Run("webhooks 10: what the API server doesn't reach serves nothing, and keeps the policies", func(t *testing.T) {
		r := w.run("crate-operator", crateOperator(), user, "--leader-election.lock", "none")
		w.eventually("there is a policy", func() bool { return w.cluster(policies, "crates.webhooks.operkit.dev") != nil })
		w.eventually("it is enforced", func() bool { return painted("plaid", "plaid") != nil })
		assert.Contains(t, r.log.String(), "webhooks and conversions aren't served")
		assert.Nil(t, w.cluster(validatings, "crate-operator"))
		address, _, _ := unstructured.NestedMap(w.cluster(crds, "crates.webhooks.operkit.dev").Object, "spec", "conversion", "webhook", "clientConfig")
		assert.NotContains(t, address, "url")
		require.NoError(t, painted("one", ""))
		w.eventually("it works", func() bool { return w.mode("one") != "" })
		r.stop()
	})
	for _, row := range []struct {
		reason string
		flags  func(t *testing.T) []string
	}{
		{"webhooks 10: a process without a namespace has a certificate of its own", func(*testing.T) []string { return nil }},
		{"webhooks 12: a certificate of somebody else is served from a directory", func(t *testing.T) []string {
			dir, _ := directory(t)
			return []string{"--webhooks.certificate-directory", dir}
		}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			address := freeAddress()
			r := w.run("crate-operator", crateOperator(), user, append(row.flags(t), "--leader-election.lock", "none", "--webhooks.address", address, "--webhooks.url", "https://"+address)...)
			defer r.stop()
			w.eventually("it answers", func() bool {
				object := w.cluster(validatings, "crate-operator")
				if object == nil {
					return false
				}
				hooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
				url, _, _ := unstructured.NestedString(hooks[0].(map[string]any), "clientConfig", "url")
				return strings.HasPrefix(url, "https://"+address)
			})
			name := strings.ReplaceAll(address, ":", "-")
			w.first(name, 7)
			w.eventually("it works", func() bool { return w.mode(name) == "7" })
			assert.Contains(t, refused(t, w.merge(oldCrates, name, `{"spec":{"size":1}}`)), "a crate can't shrink")
			hostile(t, address)
		})
	}
}

// hostile sends what isn't from an API server.
func hostile(t *testing.T, address string) {
	t.Helper()
	foreign, err := certificate.SelfSigned("somebody")
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, Certificates: foreign.Certificates, //nolint:gosec // the certificate isn't what is tested
	}}}
	for _, row := range []struct {
		reason, method, url, body string
		status                    int
	}{
		{"no TLS", http.MethodPost, "http://" + address + "/validate.crate.webhooks.operkit.dev", "{}", http.StatusBadRequest},
		{"a client with a certificate that nobody knows, and no review", http.MethodPost, "https://" + address + "/validate.crate.webhooks.operkit.dev", "tea", http.StatusBadRequest},
		{"no POST", http.MethodGet, "https://" + address + "/convert.Crate.webhooks.operkit.dev", "", http.StatusMethodNotAllowed},
		{"an unknown webhook", http.MethodPost, "https://" + address + "/validate.tea", "{}", http.StatusNotFound},
		{"more than 8 MiB", http.MethodPost, "https://" + address + "/convert.Crate.webhooks.operkit.dev", strings.Repeat(" ", 9<<20), http.StatusRequestEntityTooLarge},
	} {
		request, err := http.NewRequestWithContext(t.Context(), row.method, row.url, strings.NewReader(row.body))
		require.NoError(t, err)
		response, err := client.Do(request)
		if !assert.NoError(t, err, row.reason) {
			continue
		}
		_ = response.Body.Close()
		assert.Equal(t, row.status, response.StatusCode, row.reason)
	}
}
