package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// releases is a release channel on this machine.
type releases struct {
	*httptest.Server
	mu      sync.Mutex
	version string
	down    bool
	asked   int
}

func newReleases(t *testing.T, version string) *releases {
	t.Helper()
	r := &releases{version: version}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *releases) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.down {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	fmt.Fprintf(w, `{"version": %q}`, r.version)
}

// release has the channel answer, by this version from now on.
func (r *releases) release(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version, r.down = version, false
}

// breakDown has the channel answer nobody until the next release.
func (r *releases) breakDown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = true
}

// count is how often it was asked.
func (r *releases) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}
