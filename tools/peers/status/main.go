// Command status measures the module status against its alternatives: the helpers of apimachinery for conditions, its
// converter between typed and unstructured objects with the checks of kubectl rollout status, and its semantic
// comparison. It prints a line for each goal and exits with 1 when one is missed.
package main

import (
	"runtime"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	// Only the garbage collector would use more than one processor. With one, its work counts for the side that causes
	// it.
	runtime.GOMAXPROCS(1)
	ratio.Main(pairs(), counts())
}
