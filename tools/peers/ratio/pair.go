package ratio

import "testing"

// Pair is one piece of work, done by us and by a peer on the same data. Ours and Peer are ordinary benchmarks: set up,
// then for b.Loop() or b.N. They are called several times each.
type Pair struct {
	// Name starts the line of the result.
	Name string
	// Goal is what ours divided by the peer's may at most be.
	Goal float64
	// Ours and Peer do the work.
	Ours, Peer func(b *testing.B)
	// Hint is what to look at when the goal is missed.
	Hint string
	// Rounds is how often it is measured at least, for work whose times scatter; zero leaves it with the flag.
	Rounds int
	// Allocs compares allocations per iteration instead of time.
	Allocs bool
	// Metric, when it is set, compares what both report to b.ReportMetric under that unit instead of time: a median
	// that they work out themselves, or bytes for each object.
	Metric string
}

// Count is a thing that is counted, without a peer.
type Count struct {
	// Name starts the line of the result.
	Name string
	// Goal is what the count may at most be.
	Goal float64
	// Measure counts.
	Measure func() (float64, error)
	// Hint is what to look at when the goal is missed.
	Hint string
}

// Bench runs the pairs as benchmarks <name>/ours and <name>/peer, for profiles. A pair that compares allocations does
// the same work as another one and is left out.
func Bench(b *testing.B, pairs []Pair) {
	for _, pair := range pairs {
		if pair.Allocs {
			continue
		}
		for _, side := range pair.sides() {
			b.Run(pair.Name+"/"+side.name, func(b *testing.B) {
				b.ReportAllocs()
				side.run(b)
			})
		}
	}
}

// side is one of the two of a pair.
type side struct {
	name string
	run  func(b *testing.B)
}

func (p Pair) sides() [2]side {
	return [2]side{{"ours", p.Ours}, {"peer", p.Peer}}
}
