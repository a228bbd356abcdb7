package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// interposer stands between an operator and the API server. It can catch one write, and then
// lets none after it pass until it is released: so a process can be killed exactly there.
type interposer struct {
	next http.RoundTripper

	mu     sync.Mutex
	writes []write // since the last call of arm
	armed  *trap
	sprung bool
}

// write is a request to change something.
type write struct {
	request string // such as "PATCH guestbooks/hello/status"
	nth     int    // of those that read the same, from 1 on
}

// trap is the moment in a process's life at which it is caught.
type trap struct {
	write
	// answered: the API server has done it, but the process doesn't learn of that. Otherwise
	// the write never arrives.
	answered bool
	caught   chan error    // gets one value: why it isn't what it should be, or nil
	released chan struct{} // closed by release
}

// interpose has operators that are started from now on reach the API server through an interposer.
func (w *world) interpose() *interposer {
	w.t.Helper()
	target, err := url.Parse(w.operator.Config.Host)
	require.NoError(w.t, err)
	next, err := rest.TransportFor(w.operator.Config)
	require.NoError(w.t, err)
	i := &interposer{next: next}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     i,
		FlushInterval: -1, // events of watches pass at once
		// Whoever asked is dead.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	w.t.Cleanup(func() {
		i.release()
		server.CloseClientConnections()
		server.Close()
	})
	w.config = filepath.Join(w.t.TempDir(), "kubeconfig")
	require.NoError(w.t, clientcmd.WriteToFile(api.Config{
		Clusters:       map[string]*api.Cluster{"interposed": {Server: server.URL}},
		Contexts:       map[string]*api.Context{"interposed": {Cluster: "interposed", Namespace: w.Namespace}},
		CurrentContext: "interposed",
	}, w.config))
	return i
}

// arm has a write caught that is made from now on; the channel tells when it is.
func (i *interposer) arm(at write, answered bool) <-chan error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.writes, i.sprung = nil, false
	i.armed = &trap{write: at, answered: answered, caught: make(chan error, 1), released: make(chan struct{})}
	return i.armed.caught
}

// release drops what is held and lets everything pass from now on.
func (i *interposer) release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.armed != nil {
		close(i.armed.released)
		i.armed, i.sprung = nil, false
	}
}

// seen gives the writes since the last call, in their order.
func (i *interposer) seen() []write {
	i.mu.Lock()
	defer i.mu.Unlock()
	writes := i.writes
	i.writes = nil
	return writes
}

var errDropped = errors.New("dropped by the interposer")

// RoundTrip implements http.RoundTripper.
func (i *interposer) RoundTrip(request *http.Request) (*http.Response, error) {
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

// take counts a write. The trap is nil for one that may pass.
func (i *interposer) take(request string) (armed *trap, hit bool) {
	this := write{request, 1}
	i.mu.Lock()
	defer i.mu.Unlock()
	for slices.Contains(i.writes, this) {
		this.nth++
	}
	i.writes = append(i.writes, this)
	switch {
	case i.armed == nil || !i.sprung && i.armed.write != this:
		return nil, false
	case i.sprung:
		return i.armed, false
	}
	i.sprung = true
	return i.armed, true
}

// pass has the API server do what is asked if it is to be done.
func (armed *trap) pass(next http.RoundTripper, request *http.Request) error {
	if !armed.answered {
		return nil
	}
	answer, err := next.RoundTrip(request.WithContext(context.WithoutCancel(request.Context())))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if answer.StatusCode >= http.StatusBadRequest {
		err = errors.Join(err, errors.New(answer.Status+": "+string(body)))
	}
	return errors.Join(err, answer.Body.Close())
}
