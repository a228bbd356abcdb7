package traps

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
)

// gate delays the events of an operator's watches of a resource, as a slow network or a busy API server does.
type gate struct {
	resource string
	mu       sync.Mutex
	opened   chan struct{}
	// waited counts how often an event was delayed.
	waited int
}

// newGate returns an open gate.
func newGate(resource string) *gate {
	g := &gate{resource: resource, opened: make(chan struct{})}
	close(g.opened)
	return g
}

// hold delays everything until open is called.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
}

// open lets everything pass. It does nothing if the gate is open already.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.opened:
	default:
		close(g.opened)
	}
}

// pass waits until the gate is open.
func (g *gate) pass(ctx context.Context) {
	g.mu.Lock()
	opened := g.opened
	select {
	case <-opened:
	default:
		g.waited++
	}
	g.mu.Unlock()
	select {
	case <-opened:
	case <-ctx.Done():
	}
}

// held returns how often an event was delayed.
func (g *gate) held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waited
}

// guard puts the gate into a response if it is the response to a watch of the resource.
func (g *gate) guard(answer *http.Response) {
	path, query := answer.Request.URL.Path, answer.Request.URL.Query()
	if watch := query.Get("watch"); strings.HasSuffix(path, "/"+g.resource) && (watch == "true" || watch == "1") {
		answer.Body = &guarded{ReadCloser: answer.Body, gate: g, ctx: answer.Request.Context()}
	}
}

// guarded is the stream of a watch.
type guarded struct {
	io.ReadCloser
	gate *gate
	// ctx ends when nobody watches any more.
	ctx context.Context
}

// Read implements io.Reader.
func (g *guarded) Read(into []byte) (int, error) {
	n, err := g.ReadCloser.Read(into)
	g.gate.pass(g.ctx)
	return n, err
}
