// Command status measures the module status against what people use in its place: the helpers of apimachinery for
// conditions, its converter between typed and unstructured objects with the checks of kubectl rollout status, and its
// semantic comparison. It prints a line for each goal and exits with 1 when one is missed.
package main

import (
	"runtime"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	// Nothing here runs on more than one processor but the collector, whose work counts for who causes it.
	runtime.GOMAXPROCS(1)
	ratio.Main(pairs(), counts())
}
