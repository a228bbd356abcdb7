// Command smp measures smp next to its common alternatives: k8s.io/apimachinery's strategicpatch and
// evanphx/json-patch. `make ratios MODULE=smp` runs it. The differential fuzz targets of the same peers are this
// package's tests; the generator of smp's table of built-in types is in the folder generate.
package main

import (
	"runtime"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	// Only the garbage collector would use more than one processor. With one, its work counts for the side that causes
	// it.
	runtime.GOMAXPROCS(1)
	f, err := loadFixture()
	if err != nil {
		fail(err)
	}
	ratio.Main(f.pairs(), nil)
}
