package main

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
)

// Kills, failed requests and edits, each of them anywhere, come to the same end as a life without them. Nothing is
// ignored. The definition has no schema, so nothing is edited. The settings are those of main.
func TestExplore(t *testing.T) {
	explore.Run(t, func() Bakery { return Bakery{} }, explore.Definitions("config/crd"), explore.Samples("testdata/bakery.yaml"),
		explore.Harness(reconciletest.Namespace("default"),
			reconciletest.Manager(deploy.KeyDomain("oper8.org"), deploy.FieldManager("oper8")),
			reconciletest.With(reconcile.Oper8Names(), reconcile.NameObjects(), reconcile.Status(reconcile.ServiceStatus))),
		explore.States(300))
}
