package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/operkit/operkit/examples/buckets/cloud"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"github.com/operkit/operkit/reconcile/watcher"
)

// inProcess sends requests to a cloud without a network.
type inProcess struct{ cloud *cloud.Cloud }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.cloud.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// Each process finds an empty cloud, so a restart has everything to do again. Nothing is ignored.
func TestExplore(t *testing.T) {
	explore.Drive(t, func() *watcher.Watchers[Bucket] {
		c := &client{url: "http://cloud", timeout: 10 * time.Second, poll: 10 * time.Second}
		c.http.Transport = inProcess{cloud.New()}
		return Buckets(c, slog.New(slog.DiscardHandler))
	}, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default")), explore.States(500))
}
