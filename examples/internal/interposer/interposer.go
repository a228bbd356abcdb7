package interposer

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Interposer passes the requests of an operator on to the API server. It can catch one write; then it lets none after
// it pass until Release, so that the operator can be killed exactly there.
type Interposer struct {
	// Kubeconfig is the file with which an operator reaches the API server through the Interposer.
	Kubeconfig string

	t    testing.TB
	next http.RoundTripper

	mu     sync.Mutex
	writes []Write // since the last call of Catch or Seen
	armed  *trap
	sprung bool
}

// Write is a request to change something.
type Write struct {
	// Request is such as "PATCH guestbooks/hello/status".
	Request string
	// Nth counts the writes that read the same, from 1 on.
	Nth int
}

// Firsts returns the first write of each request.
func Firsts(requests ...string) (writes []Write) {
	for _, request := range requests {
		writes = append(writes, Write{request, 1})
	}
	return writes
}

// New returns an Interposer for requests to the API server of config, which runs until the end of the test.
func New(t testing.TB, config *rest.Config, namespace string) *Interposer {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatalf("interposer: %v", err)
	}
	next, err := rest.TransportFor(config)
	if err != nil {
		t.Fatalf("interposer: %v", err)
	}
	i := &Interposer{t: t, next: next, Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     i,
		FlushInterval: -1, // events of watches pass at once
		// Whoever asked is dead.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(func() {
		i.Release()
		server.CloseClientConnections()
		server.Close()
	})
	err = clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"interposed": {Server: server.URL}},
		Contexts:       map[string]*api.Context{"interposed": {Cluster: "interposed", Namespace: namespace}},
		CurrentContext: "interposed",
	}, i.Kubeconfig)
	if err != nil {
		t.Fatalf("interposer: %v", err)
	}
	return i
}

// Release drops what is held and lets all requests pass from now on.
func (i *Interposer) Release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.armed != nil {
		close(i.armed.released)
		i.armed, i.sprung = nil, false
	}
}

// Seen returns the writes since the last call, in their order.
func (i *Interposer) Seen() []Write {
	i.mu.Lock()
	defer i.mu.Unlock()
	writes := i.writes
	i.writes = nil
	return writes
}

var errDropped = errors.New("dropped by the interposer")

// RoundTrip implements http.RoundTripper.
func (i *Interposer) RoundTrip(request *http.Request) (*http.Response, error) {
	_, path, namespaced := strings.Cut(request.URL.Path, "/namespaces/")
	_, path, _ = strings.Cut(path, "/")
	if request.Method == http.MethodGet || !namespaced { // outside of namespaces it only asks what it may do
		return i.next.RoundTrip(request)
	}
	armed, hit := i.take(request.Method + " " + path)
	if armed == nil {
		return i.next.RoundTrip(request)
	}
	if hit {
		armed.caught <- armed.pass(i.next, request)
	}
	<-armed.released
	return nil, errDropped
}
