// Command versions-side-by-side is an operator for web sites, several releases of which run in one cluster. Each site
// names its version, and is upgraded when it names another one.
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

// release is the release of this binary. The build sets it:
//
//	go build -ldflags "-X main.release=1.0.0"
var release = "1.1.0"

// releases stands for the history of a repository. Your own repository has only the newest controller, and the binary
// of an older release is built from the sources of its tag.
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
