package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// oneRelease answers each request as a channel that names the first release.
type oneRelease struct{}

// RoundTrip implements http.RoundTripper.
func (oneRelease) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(`{"version": "` + firstRelease + `"}`))
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: body}, nil
}

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them. Nothing is
// ignored. Every channel names the same version, so a new version isn't explored. The namespaces that edits name exist
// from the beginning: while one is missing, a WebApp keeps the condition Ready of its earlier generation on purpose.
func TestExplore(t *testing.T) {
	client.Transport = oneRelease{}
	t.Cleanup(func() { client.Transport = nil })
	explore.Run(t, func() *WebApp { return &WebApp{interval: time.Minute} },
		explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Memory(dryrun.Namespaces(
			"staging", "stagingx", "production", "productionx", "x", strings.Repeat("x", 63)))),
		explore.States(350))
}
