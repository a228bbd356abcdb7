package main

import (
	"os"
	"testing"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func TestMain(m *testing.M) {
	quiet()
	os.Exit(m.Run())
}

func BenchmarkPairs(b *testing.B) { ratio.Bench(b, append(pairs(), watchPairs()...)) }
