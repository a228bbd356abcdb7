package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/peers/ratio"
)

func BenchmarkPairs(b *testing.B) {
	l, err := newLab()
	require.NoError(b, err)
	ratio.Bench(b, l.pairs())
}
