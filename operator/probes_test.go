package operator_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

var servedAt = regexp.MustCompile(`msg="serving HTTP" setting=(\S+) address=(\S+)`)

// address is where an operator serves something, by the key of it; empty as long as it doesn't.
func (b *buffer) address(key string) string {
	for _, found := range servedAt.FindAllStringSubmatch(b.String(), -1) {
		if found[1] == key {
			return found[2]
		}
	}
	return ""
}

func (p *process) address(key string) string { return p.log.address(key) }

func (r *running) address(key string) string { return r.log.address(key) }

// ask returns the code and the text of an answer, zero if there is none.
func ask(t *testing.T, address, path string) (code int, text string) {
	t.Helper()
	answer, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { assert.NoError(t, answer.Body.Close()) }()
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(content)
}

func TestProbes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	dir := t.TempDir()
	beat, rendered := filepath.Join(dir, "beat"), filepath.Join(dir, "rendered")
	first := w.process(w.replica("first", leading(t)...), "--health.address", "127.0.0.1:0", "--profiling.address", "127.0.0.1:0", "--metrics.address", "127.0.0.1:0",
		"--heartbeat.file", beat, "--manifests.directory", rendered)
	ready := func(p *process) func() bool {
		return func() bool {
			address := p.address("health.address")
			if address == "" {
				return false
			}
			code, _ := ask(t, address, "/readyz")
			return code == http.StatusOK
		}
	}
	w.eventually("it is ready", ready(first))
	w.eventually("it leads", first.says(leads))
	t.Run("what a probe asks", func(t *testing.T) {
		code, text := ask(t, first.address("health.address"), "/healthz")
		assert.Equal(t, http.StatusOK, code)
		assert.Equal(t, "ok\n", text)
		code, _ = ask(t, first.address("health.address"), "/debug/pprof/cmdline")
		assert.Equal(t, http.StatusNotFound, code, "profiles are on request only, and elsewhere")
		code, _ = ask(t, first.address("profiling.address"), "/debug/pprof/cmdline")
		assert.Equal(t, http.StatusOK, code)
	})
	t.Run("watch 38, operator 7: the heartbeat", func(t *testing.T) {
		w.eventually("it beats", func() bool { _, err := os.Stat(beat); return err == nil })
		code, out, log := execute(t, "check-heartbeat", "--file", beat, "--delta", "60")
		assert.Zero(t, code, log)
		assert.Empty(t, out+log)
	})
	t.Run("operator 22: what is rendered is kept as files", func(t *testing.T) {
		w.resource(gadgets, "one")
		w.eventually("it works", func() bool { return w.mode("one") == "old" })
		w.eventually("the file is there", func() bool {
			found, err := filepath.Glob(filepath.Join(rendered, "*", w.Namespace, "one", "*", "*.yaml"))
			require.NoError(t, err)
			return len(found) > 0
		})
	})
	t.Run("the metrics have the names that dashboards know", func(t *testing.T) {
		// What is counted of a reconcile comes bit by bit.
		for _, want := range []string{
			`operkit_resources{controller="Gadget",standing="settled"} 1`, `operkit_resources{controller="Gadget",standing="paused"} 0`,
			`controller_runtime_reconcile_total{controller="Gadget",result="requeue_after"} `, `controller_runtime_active_workers{controller="Gadget"} `,
			`controller_runtime_reconcile_time_seconds_bucket{controller="Gadget",le="+Inf"} `, `workqueue_depth{controller="all",name="all"} 0`,
			`workqueue_adds_total{controller="Gadget",name="Gadget"} `, `rest_client_requests_total{code="200",host="`, `leader_election_master_status{name="gadget-operator"} 1`,
			`operkit_reconcile_calls_count{controller="Gadget"} `, `operkit_operator_info{operator="gadget-operator",version="`,
			"go_goroutines ", "process_resident_memory_bytes ",
		} {
			w.eventually(want, func() bool {
				code, text := ask(t, first.address("metrics.address"), "/metrics")
				return code == http.StatusOK && strings.Contains(text, "\n"+want)
			})
		}
	})
	t.Run("watch mistake 20: a replica that waits for its turn is well, ready, and beats", func(t *testing.T) {
		other := filepath.Join(dir, "other")
		second := w.process(w.replica("second", leading(t)...), "--health.address", "127.0.0.1:0", "--heartbeat.file", other)
		w.eventually("it is ready", ready(second))
		w.eventually("it beats", func() bool { _, err := os.Stat(other); return err == nil })
		assert.False(t, second.says(leads)())
		second.send(t, syscall.SIGTERM)
		state, _ := second.end(t)
		assert.True(t, state.Success())
	})
	t.Run("an address that is taken", func(t *testing.T) {
		third := w.process(w.replica("third", leading(t)...), "--health.address", first.address("health.address"))
		state, _ := third.end(t)
		assert.Equal(t, 1, state.ExitCode())
		assert.Len(t, third.log.lines("health.address "+first.address("health.address")+": bind: address already in use: set another address, or the value off"), 1)
	})
	address := first.address("health.address")
	first.send(t, syscall.SIGTERM)
	state, _ := first.end(t)
	assert.True(t, state.Success())
	code, _ := ask(t, address, "/healthz")
	assert.Zero(t, code)
}

// TestMetricsForSome has them read by HTTPS alone, and by those who may: package access tests whom that is.
func TestMetricsForSome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, envtest.CRDs(definitions, patchDefinition(t)))
	dir := t.TempDir()
	certificateFile, keyFile, roots := certificateIn(t, dir)
	asking := w.User(t, "asking", envtest.InNamespace(append([]rbacv1.PolicyRule{own, creating}, patchRights(t)...)...), envtest.ClusterWide(
		rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}},
		rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}},
	))
	get := func(p *process, trust *tls.Config, token string) (code int, text string) {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+p.address("metrics.address")+"/metrics", nil)
		require.NoError(t, err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := transport.RoundTrip(request)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { assert.NoError(t, answer.Body.Close()) }()
		content, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(content)
	}
	serves := func(p *process) func() bool { return func() bool { return p.address("metrics.address") != "" } }
	p := w.process(asking, "--leader-election.lock", "none", "--metrics.address", "127.0.0.1:0", "--metrics.authorize")
	w.eventually("it serves", serves(p))
	whomever := &tls.Config{InsecureSkipVerify: true}
	code, text := get(p, whomever, "")
	assert.Equal(t, http.StatusUnauthorized, code, text)
	code, text = get(p, whomever, "nonsense")
	assert.Equal(t, http.StatusUnauthorized, code, text)
	assert.Contains(t, text, "the API server doesn't know this token", "it was asked")
	code, _ = ask(t, p.address("metrics.address"), "/metrics")
	assert.Equal(t, http.StatusBadRequest, code, "there is no HTTP")

	p = w.process(asking, "--leader-election.lock", "none", "--metrics.address", "127.0.0.1:0", "--metrics.certificate-file", certificateFile, "--metrics.key-file", keyFile)
	w.eventually("it serves", serves(p))
	code, text = get(p, &tls.Config{RootCAs: roots}, "")
	assert.Equal(t, http.StatusOK, code, text)
	assert.Contains(t, text, "operkit_operator_info")

	p = w.process(asking, "--leader-election.lock", "none", "--metrics.address", "127.0.0.1:0", "--metrics.certificate-file", keyFile, "--metrics.key-file", keyFile)
	state, _ := p.end(t)
	assert.Equal(t, 1, state.ExitCode())
	assert.Len(t, p.log.lines("metrics.certificate-file: certificate "+keyFile), 1, p.log.String())
}

// certificateIn puts a certificate for 127.0.0.1 into a folder.
func certificateIn(t *testing.T, dir string) (certificateFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	document, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certificateFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: document})
	require.NoError(t, os.WriteFile(certificateFile, text, 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	roots = x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text))
	return certificateFile, keyFile, roots
}
