package main

import (
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// Claims hold data, so they stay when a set shrinks, and keep their size.
func TestExplore(t *testing.T) {
	explore.Drive(t, CatSets, explore.Definitions("config/crd"), explore.Samples("config/sample.yaml"),
		explore.Harness(reconciletest.Namespace("default")), explore.Leaves("PersistentVolumeClaim"),
		explore.Ignore("PersistentVolumeClaim * spec.resources", "PersistentVolumeClaim * status.capacity"), explore.States(300))
}
