// Command smp measures smp next to what people use today: k8s.io/apimachinery's strategicpatch and evanphx/json-patch.
// `make ratios MODULE=smp` runs it. The differential fuzz targets of the same peers are this package's tests; the
// generator of smp's table of built-in types is in the folder generate.
package main

import (
	"runtime"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func main() {
	// Nothing here runs on more than one processor but the collector, whose work counts for who causes it.
	runtime.GOMAXPROCS(1)
	f, err := loadFixture()
	if err != nil {
		fail(err)
	}
	ratio.Main(f.pairs(), nil)
}
