// Command reconcile measures a reconcile, in memory and without the time of a network. A reconcile of a resource that
// is as it should be is measured against the least that any framework has to do for it, which is to render its objects
// and hash them; first rollouts are measured against smaller ones, so that what grows faster than its work is seen. The
// watch engine and the store of deploy/cluster are measured against controller-runtime. It prints a line for each goal
// and exits with 1 when one is missed.
package main

import (
	"runtime"
	"slices"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	// The goals are about the work that is done, not about how many processors do it; and the collector's work counts
	// for who causes it. The rows of the watch engine are about time, and take all processors.
	runtime.GOMAXPROCS(1)
	quiet()
	serveAsVersion()
	ratio.Main(slices.Concat(pairs(), versionPairs(), watchPairs()), counts())
}
