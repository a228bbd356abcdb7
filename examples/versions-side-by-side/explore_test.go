package main

import (
	"testing"

	v100 "github.com/operkit/operkit/examples/versions-side-by-side/v1.0.0"
	v110 "github.com/operkit/operkit/examples/versions-side-by-side/v1.1.0"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// Each release by itself comes to the same end whatever goes wrong. Nothing is ignored. The choice of a release isn't
// explored, since each release is a process of its own.
func TestExplore(t *testing.T) {
	t.Run("1.0.0", func(t *testing.T) { exploreRelease(t, func() v100.Site { return v100.Site{} }) })
	t.Run("1.1.0", func(t *testing.T) { exploreRelease(t, func() v110.Site { return v110.Site{} }) })
}

func exploreRelease[C reconcile.Controller](t *testing.T, controller func() C) {
	t.Helper()
	explore.Run(t, controller, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default")), explore.States(300))
}
