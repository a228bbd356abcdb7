package main

import (
	"os"
	"slices"
	"testing"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func TestMain(m *testing.M) {
	quiet()
	serveAsVersion()
	exploreAsTest()
	os.Exit(m.Run())
}

func BenchmarkPairs(b *testing.B) {
	ratio.Bench(b, slices.Concat(pairs(), versionPairs(), watchPairs(), handlerPairs(), desiredPairs(), watcherPairs(), explorePairs()))
}
