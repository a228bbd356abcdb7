package ratio

import "testing"

// Pair is one piece of work, done by us and by a peer on the same data. Ours and Peer are ordinary benchmarks: set up,
// then for b.Loop() or b.N. They are called several times each.
type Pair struct {
	// Name starts the line of the result.
	Name string
	// Goal is the maximum of ours divided by the peer's.
	Goal float64
	// Ours and Peer do the work.
	Ours, Peer func(b *testing.B)
	// Hint is what to look at when the goal is missed.
	Hint string
	// Rounds is the minimum number of rounds, for work whose times vary; with zero only the flag counts.
	Rounds int
	// Allocs compares allocations per iteration instead of time.
	Allocs bool
	// Metric, if it is set, is the unit of a metric to compare instead of time, which both sides report by
	// b.ReportMetric: such as a median that they compute themselves, or bytes per object.
	Metric string
}

// Count is a number with a goal and without a peer.
type Count struct {
	// Name starts the line of the result.
	Name string
	// Goal is the maximum of the count.
	Goal float64
	// Measure counts.
	Measure func() (float64, error)
	// Hint is what to look at when the goal is missed.
	Hint string
}

// Bench runs the pairs as benchmarks <name>/ours and <name>/peer, for profiles. A pair that compares allocations is
// left out, since another pair does the same work.
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
