package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/operkit/operkit/examples/buckets/cloud"
)

// weather is a cloud on this machine, with what comes of the requests to it.
type weather struct {
	*cloud.Cloud
	*httptest.Server
	mu       sync.Mutex
	requests []string
	// meet decides what comes of a request; with nil each one arrives.
	meet func(request string) fate
}

// fate is what comes of a request: one of these, or the HTTP status of a response.
type fate int

const (
	arrives fate = iota
	lost         // the connection breaks before the request has arrived
	unknown      // the connection breaks before the response
	hangs        // there is no response until the client gives up
)

// newWeather returns a cloud with fine weather.
func newWeather(t *testing.T) *weather {
	t.Helper()
	w := &weather{Cloud: cloud.New()}
	w.Server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(func() {
		w.CloseClientConnections()
		w.Close()
	})
	return w
}

func (w *weather) serve(response http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // only then the server notices that a client gives up
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	met := w.decide(r.Method + " " + r.URL.Path)
	switch {
	case met == lost:
		panic(http.ErrAbortHandler)
	case met == unknown:
		w.Cloud.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case met == hangs:
		<-r.Context().Done()
	case met >= http.StatusBadRequest:
		http.Error(response, "the weather is bad", int(met))
	default:
		w.Cloud.ServeHTTP(response, r)
	}
}

// decide notes a request, and returns its fate.
func (w *weather) decide(request string) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, request)
	if w.meet == nil {
		return arrives
	}
	return w.meet(request)
}

// change has meet decide about requests from now on.
func (w *weather) change(meet func(request string) fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meet = meet
}

// storm lets the next requests that read so meet a fate, one each.
func (w *weather) storm(request string, fates ...fate) {
	w.change(func(got string) fate {
		if got != request || len(fates) == 0 {
			return arrives
		}
		next := fates[0]
		fates = fates[1:]
		return next
	})
}

// seen returns the requests since the last call.
func (w *weather) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := w.requests
	w.requests = nil
	return slices.Clone(requests)
}
