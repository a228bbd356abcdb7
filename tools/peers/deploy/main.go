// Command deploy measures the module deploy against alternatives. The cluster in memory is measured against
// structured-merge-diff alone, and against itself with ten times as many objects. The Manager is measured on a real API
// server, on a hundred mixed objects, against its alternatives: CreateOrUpdate and Apply of controller-runtime, and
// ApplyAll of flux. Its requests are counted, too. It prints a line for each goal and exits with 1 when one is missed.
package main

import (
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	quiet()
	l := lab{server: started}
	ratio.Main(append(pairs(), l.livePairs()...), l.liveCounts())
}

// quiet suppresses controller-runtime's warning that no logger was set.
func quiet() { log.SetLogger(logr.Discard()) }
