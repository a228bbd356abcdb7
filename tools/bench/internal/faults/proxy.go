package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Proxy is a proxy for an API server, on a port of its own without TLS. Any client that can connect acts as its
// administrator, or as the user whom a request impersonates.
type Proxy struct {
	server   *http.Server
	address  string
	forward  *httputil.ReverseProxy
	fault    func(*http.Request) *apierrors.StatusError
	serving  sync.WaitGroup
	mu       sync.Mutex
	answered map[int]int
}

// Hooks change what a Proxy does with requests and responses. They are called concurrently.
type Hooks struct {
	// Fault returns an error response for a request, or nil to pass the request on to the API server.
	Fault func(*http.Request) *apierrors.StatusError
	// Answer may change a response of the API server. Nil changes nothing.
	Answer func(*http.Response) error
}

// Dice fails a share of the requests, from 0 to 1, by 409, 429 and 500 in turn, but no reads by 409. With the same
// seed, the same requests fail, counted in their order.
func Dice(share float64, seed uint64) func(*http.Request) *apierrors.StatusError {
	return (&dice{share: share, rand: rand.New(rand.NewPCG(seed, seed))}).fault
}

// Start starts the proxy. Hooks don't affect a watch that has started.
func Start(config *rest.Config, hooks Hooks) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{
		address: "http://" + listener.Addr().String(), fault: hooks.Fault, answered: map[int]int{},
		forward: &httputil.ReverseProxy{
			Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ModifyResponse: hooks.Answer,
			FlushInterval: -1, // pass on events of a watch immediately
		},
	}
	p.server = &http.Server{Handler: p}
	p.serving.Go(func() { _ = p.server.Serve(listener) }) // returns when Stop is called
	return p, nil
}

// Address returns the proxy's address.
func (p *Proxy) Address() string { return p.address }

// Answered returns how often the proxy has responded itself, by status code.
func (p *Proxy) Answered() map[int]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	copied := make(map[int]int, len(p.answered))
	for code, times := range p.answered {
		copied[code] = times
	}
	return copied
}

// Stop stops the proxy, and ends all requests.
func (p *Proxy) Stop() error {
	err := p.server.Close()
	p.serving.Wait()
	return err
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := p.fault(r)
	if fault == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	p.answered[int(fault.ErrStatus.Code)]++
	p.mu.Unlock()
	status := fault.ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	body, err := json.Marshal(status)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(body) // fails only if the client is gone
}

// dice decide which requests fail, and how.
type dice struct {
	share float64
	mu    sync.Mutex
	rand  *rand.Rand
}

// fault implements Hooks.Fault.
func (d *dice) fault(r *http.Request) *apierrors.StatusError {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rand.Float64() >= d.share {
		return nil
	}
	switch kind := d.rand.IntN(3); {
	case kind == 0 && r.Method != http.MethodGet:
		return Conflict()
	case kind == 1:
		return apierrors.NewTooManyRequests("busy on purpose", 1)
	}
	return apierrors.NewInternalError(fmt.Errorf("a fault on purpose"))
}

// Conflict returns the error for a write that conflicts with another one.
func Conflict() *apierrors.StatusError {
	return apierrors.NewConflict(schema.GroupResource{}, "", fmt.Errorf("the object has been modified"))
}
