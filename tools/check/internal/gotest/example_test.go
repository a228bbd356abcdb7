package gotest_test

import (
	"fmt"
	"os"

	"github.com/operkit/operkit/tools/check/internal/gotest"
)

func ExampleCollector() {
	collector := gotest.NewCollector(os.Stdout)
	for _, line := range []string{
		`{"Action":"run","Package":"p","Test":"TestGood"}`,
		`{"Action":"output","Package":"p","Test":"TestGood","Output":"not shown\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestGood"}`,
		`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`,
		`{"Action":"pass","Package":"p"}`,
	} {
		collector.Line([]byte(line))
	}
	fmt.Println(collector.Tally)
	// Output:
	// ok  	p	0.1s
	// TESTS passed=1 failed=0 skipped=0
}
