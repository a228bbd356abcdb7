// Command operkit controls Bundles with operkit's lean core. It never reads the content of children, since it doesn't
// wait for them: the store has only their metadata.
package main

import (
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	op := operator.New("operkit", operator.WithoutTemporaryPatches(), operator.Watches(cluster.MetadataOnly(
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
