package ratio

import (
	"strings"
	"testing"
)

func BenchmarkFake(b *testing.B) {
	work := func(b *testing.B) {
		for b.Loop() {
			sink = []byte(strings.Repeat("a", 100))
		}
	}
	Bench(b, []Pair{{Name: "fake", Ours: work, Peer: work}, {Name: "fake-allocs", Ours: work, Peer: work, Allocs: true}})
}
