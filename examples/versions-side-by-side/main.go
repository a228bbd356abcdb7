// Command versions-side-by-side is an operator for web sites of which several releases work in one cluster: each site
// is in the version that it says, and is upgraded when it says another one.
package main

import (
	"fmt"
	"os"

	v100 "github.com/operkit/operkit/examples/versions-side-by-side/v1.0.0"
	v110 "github.com/operkit/operkit/examples/versions-side-by-side/v1.1.0"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
)

// release is the one that this binary is of. The build says it:
//
//	go build -ldflags "-X main.release=1.0.0"
var release = "1.1.0"

// releases stands for the history of a repository: in one of your own there is the newest controller alone, and the
// binary of an older release is built of the sources of its tag.
var releases = map[string]reconcile.Controller{"1.0.0": v100.Site{}, "1.1.0": v110.Site{}}

func main() {
	site, known := releases[release]
	if !known {
		fmt.Fprintf(os.Stderr, "site-operator: built as the release %q, which there isn't\n", release)
		os.Exit(1)
	}
	op := full.New("site-operator", operator.Defaults(func(c *config.Config) { c.Versions.Operator = release }))
	op.Control(site)
	op.Main()
}
