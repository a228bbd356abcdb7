// Command webapp is an operator for web applications that run in several namespaces, one stage after the other, in the
// version that a release channel outside of the cluster names.
package main

import (
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/full"
)

func main() {
	apps := &WebApp{}
	// A temporary patch is in the namespace of the resource that it changes, and a WebApp has no namespace.
	op := full.New("webapp-operator", operator.Flags(apps.flags), operator.WithoutTemporaryPatches())
	op.Control(apps)
	op.Main()
}
