// Command operkit controls Bundles with operkit's lean core. No content of the children is read, since nobody waits for them:
// the store holds their metadata.
package main

import (
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	op := operator.New("operkit", operator.WithoutTemporaryPatches(), operator.Watches(cluster.MetadataOnly(
		schema.GroupKind{Kind: "ServiceAccount"},
		schema.GroupKind{Kind: "ConfigMap"},
		schema.GroupKind{Kind: "Service"},
		schema.GroupKind{Group: "apps", Kind: "Deployment"},
	)))
	op.Control(bundles{})
	op.Main()
}
