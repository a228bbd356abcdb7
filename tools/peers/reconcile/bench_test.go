package main

import (
	"testing"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func BenchmarkPairs(b *testing.B) { ratio.Bench(b, pairs()) }
