package proxy_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

// received is a request that the API server got.
type received struct {
	*http.Request
	Body string
}

// fake is an API server that notes requests and returns what a test wants.
type fake struct {
	url string
	mu  sync.Mutex
	all []received
	// respond, if it isn't nil, responds to requests. Discovery is done, and the others get an empty object.
	respond func(w http.ResponseWriter, r received)
}

// startFake runs an API server until the test ends.
func startFake(t *testing.T, respond func(w http.ResponseWriter, r received)) *fake {
	t.Helper()
	f := &fake{respond: respond}
	s := httptest.NewServer(f)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	f.url = s.URL
	return f
}

// served are the discovery documents of the fake.
var served = map[string]string{
	"/api":  `{"versions":["v1"]}`,
	"/apis": `{"groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]},{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}]}]}`,
	"/api/v1": `{"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true},{"name":"secrets","kind":"Secret","namespaced":true},
		{"name":"namespaces","kind":"Namespace"},{"name":"pods","kind":"Pod","namespaced":true},{"name":"pods/eviction","kind":"Eviction","namespaced":true}]}`,
	"/apis/apps/v1":        `{"resources":[{"name":"deployments","kind":"Deployment","namespaced":true},{"name":"deployments/scale","kind":"Scale","namespaced":true}]}`,
	"/apis/example.com/v1": `{"resources":[{"name":"cats","kind":"Cat","namespaced":true},{"name":"farms","kind":"Farm"}]}`,
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	document, ok := served[r.URL.Path]
	w.Header().Set("Content-Type", "application/json")
	if ok && r.Header.Get("Impersonate-User") == "" { // the operator discovers
		_, _ = w.Write([]byte(document))
		return
	}
	got := received{r, string(body)}
	f.mu.Lock()
	f.all = append(f.all, got)
	f.mu.Unlock()
	if f.respond != nil {
		f.respond(w, got)
		return
	}
	_, _ = w.Write([]byte("{}"))
}

// requests returns the requests since the last call, without those of discovery.
func (f *fake) requests() []received {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.all
	f.all = nil
	return all
}

// startProxy runs a proxy until the test ends, and returns what it logs.
func startProxy(t *testing.T, address string) (*proxy.Proxy, *logged) {
	t.Helper()
	logs := &logged{}
	p, err := proxy.New(t.Context(), config(address, logs))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p, logs
}

// config returns the configuration of a proxy to an address.
func config(address string, logs io.Writer) proxy.Config {
	return proxy.Config{
		API:    &rest.Config{Host: address, BearerToken: "operator"},
		Logger: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// logged has the lines of a log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// String returns all lines.
func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// resource returns a custom resource.
func resource(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetUID(types.UID("uid-of-" + name))
	return object
}

var runner = types.NamespacedName{Namespace: "a", Name: "runner"}

// issue gives access in the name of Cat a/tom.
func issue(t *testing.T, p *proxy.Proxy, kinds ...schema.GroupKind) *proxy.Access {
	t.Helper()
	access, err := p.Issue(proxy.Grant{Owner: resource("Cat", "a", "tom"), ServiceAccount: runner, Kinds: kinds})
	require.NoError(t, err)
	return access
}

// run is a client with the kubeconfig of an access.
type run struct {
	address, token string
	client         *http.Client
	tls            *tls.Config
}

// use returns a client of an access, until the test ends.
func use(t *testing.T, access *proxy.Access) *run {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(access.Kubeconfig())
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(config.CAData))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &run{address: config.Host, token: config.BearerToken, client: &http.Client{Transport: transport}, tls: transport.TLSClientConfig}
}

// request returns a request. Headers are pairs of a name and a value.
func (r *run) request(t *testing.T, method, path, body string, headers ...string) *http.Request {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, r.address+path, content)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+r.token)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return request
}

// do sends a request and returns the code and the body of the response.
func (r *run) do(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	response, err := r.client.Do(r.request(t, method, path, body, headers...))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

// refused sends a request that the proxy refuses, and returns the message.
func (r *run) refused(t *testing.T, code int, method, path, body string, headers ...string) string {
	t.Helper()
	got, content := r.do(t, method, path, body, headers...)
	assert.Equal(t, code, got, content)
	return message(t, content, got)
}

// message returns the message of a metav1.Status.
func message(t *testing.T, content string, code int) string {
	t.Helper()
	var status metav1.Status
	require.NoError(t, json.Unmarshal([]byte(content), &status), content)
	assert.Equal(t, "Status", status.Kind)
	assert.Equal(t, metav1.StatusFailure, status.Status)
	assert.EqualValues(t, code, status.Code)
	assert.NotEmpty(t, status.Reason)
	return status.Message
}
