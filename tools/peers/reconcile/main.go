// Command reconcile measures a reconcile, in memory and without the time of a network. A reconcile without changes is
// measured against the minimal work of any framework: rendering the objects and hashing them. First rollouts are
// measured against smaller ones, to find costs that grow faster than the work. The watch engine and the store of
// deploy/cluster are measured against controller-runtime. It prints a line for each goal and exits with 1 when one is
// missed.
package main

import (
	"runtime"
	"slices"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	// One processor: the goals are about the amount of work, and the garbage collector's work then counts for the side
	// that causes it. The rows of the watch engine are about time, and use all processors.
	runtime.GOMAXPROCS(1)
	quiet()
	serveAsVersion()
	exploreAsTest()
	ratio.Main(slices.Concat(pairs(), versionPairs(), watchPairs(), handlerPairs(), desiredPairs(), watcherPairs(), explorePairs()), slices.Concat(counts(), handlerCounts(), desiredCounts()))
}
