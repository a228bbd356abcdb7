package main

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// As with kopf, a claim that somebody deletes stays away until the operator starts anew, and Claimed is about the
// generation at that time. Grown says so when a larger size is undone: a volume can't shrink.
func TestExplore(t *testing.T) {
	explore.Drive(t, Claims, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default")), explore.States(300),
		explore.Ignore("PersistentVolumeClaim *", "EphemeralVolumeClaim * status.conditions[Claimed]", "EphemeralVolumeClaim * status.conditions[Grown]"))
}
