// Command from-oper8 is an operator that takes over from one that was written with oper8: its resources, their objects,
// temporary patches and the environment of its Pod go on as they are.
package main

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/smp"
)

func main() {
	op := full.New("bakery-operator",
		// Annotations are oper8.org/..., and temporary patches are of the group oper8.org. What oper8 applied is ours,
		// so that what this operator renders no more goes.
		operator.Manager(deploy.KeyDomain("oper8.org"), deploy.FieldManager("oper8")),
		// LOG_LEVEL, WATCH_NAMESPACE and the rest are understood, with a warning that says the new name.
		operator.Oper8Environment(),
		// Patches are merged by oper8's table of keys.
		operator.TemporaryPatches(temporarypatch.Merge(smp.InMode(smp.Oper8))),
		operator.Defaults(func(c *config.Config) {
			c.Status.Service = true        // status.bakeryStatus, for whoever waits for it
			c.Objects.InternalNames = true // the annotation oper8.org/internal-name
		}),
	)
	// Names that are too long are cut as oper8 cut them.
	op.Control(Bakery{}, reconcile.Oper8Names())
	op.Main()
}
