// Command operkit controls Bundles with operkit's lean core. No content of the children is read, since nobody waits for
// them: the store holds their metadata.
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
	// Nothing has to be waited for, so no status is needed before the end. The schema has only conditions.
	op.Control(bundles{}, reconcile.StartAfter(time.Minute), reconcile.Status(reconcile.OnlyReady))
	op.Main()
}
