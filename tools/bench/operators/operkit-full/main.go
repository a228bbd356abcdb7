// Command operkit-full is operkit with everything linked: exporters of traces, which are off, and events, of failures
// alone.
package main

import (
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	// The other operators write no Events for changes either.
	quiet := operator.Defaults(func(c *config.Config) { c.Events.Level = config.WarningEvents })
	op := full.New("operkit-full", quiet, operator.WithoutTemporaryPatches(), operator.Watches(cluster.MetadataOnly(
		schema.GroupKind{Kind: "ServiceAccount"},
		schema.GroupKind{Kind: "ConfigMap"},
		schema.GroupKind{Kind: "Service"},
		schema.GroupKind{Kind: "Secret"},
		schema.GroupKind{Group: "apps", Kind: "Deployment"},
	)))
	// No component waits for a rollout, so no status is needed before the end. The schema has only conditions.
	op.Control(bundles{}, reconcile.StartAfter(time.Minute), reconcile.Status(reconcile.OnlyReady))
	op.Main()
}
