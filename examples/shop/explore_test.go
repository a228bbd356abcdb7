package main

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them. Nothing is
// ignored.
func TestExplore(t *testing.T) {
	explore.Run(t, func() Shop { return Shop{} }, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default")), explore.States(300))
}
