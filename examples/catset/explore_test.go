package main

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// Claims hold data, so they stay when a set shrinks.
func TestExplore(t *testing.T) {
	explore.Drive(t, CatSets, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default")), explore.Leaves("PersistentVolumeClaim"), explore.States(300))
}
