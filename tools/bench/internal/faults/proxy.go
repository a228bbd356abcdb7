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

// Proxy stands before an API server, on a port of its own without TLS. Whoever may connect to it is its administrator, and
// whom else a request says that it is for.
type Proxy struct {
	server   *http.Server
	address  string
	forward  *httputil.ReverseProxy
	share    float64
	serving  sync.WaitGroup
	mu       sync.Mutex
	dice     *rand.Rand
	answered map[int]int
}

// Start begins to serve. share is how many of the requests fail, from 0 to 1; a watch that has begun goes on. The same seed
// fails the same ones in the order in which they come.
func Start(config *rest.Config, share float64, seed uint64) (*Proxy, error) {
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
		address: "http://" + listener.Addr().String(), share: share, dice: rand.New(rand.NewPCG(seed, seed)), answered: map[int]int{},
		// Events of a watch go on as they come.
		forward: &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }},
	}
	p.server = &http.Server{Handler: p}
	p.serving.Go(func() { _ = p.server.Serve(listener) }) // it ends with Stop
	return p, nil
}

// Address is where it is.
func (p *Proxy) Address() string { return p.address }

// Answered is how often it has answered by itself, by the code.
func (p *Proxy) Answered() map[int]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	copied := make(map[int]int, len(p.answered))
	for code, times := range p.answered {
		copied[code] = times
	}
	return copied
}

// Stop ends it, and what is under way.
func (p *Proxy) Stop() error {
	err := p.server.Close()
	p.serving.Wait()
	return err
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := p.fault(r.Method)
	if fault == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
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
	_, _ = w.Write(body) // who has gone needs no answer
}

// fault is what to answer instead, nil for a request that goes on.
func (p *Proxy) fault(method string) *apierrors.StatusError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dice.Float64() >= p.share {
		return nil
	}
	fault := apierrors.NewInternalError(fmt.Errorf("a fault on purpose"))
	switch kind := p.dice.IntN(3); {
	case kind == 0 && method != http.MethodGet:
		fault = apierrors.NewConflict(schema.GroupResource{}, "", fmt.Errorf("the object has been modified"))
	case kind == 1:
		fault = apierrors.NewTooManyRequests("busy on purpose", 1)
	}
	p.answered[int(fault.ErrStatus.Code)]++
	return fault
}
