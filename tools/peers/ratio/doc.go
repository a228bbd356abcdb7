// Package ratio measures a piece of work next to a peer that does the same work, and compares the ratio of the two with
// a goal.
//
// Use it for the main package of a module in tools/peers: [Main] prints one line per goal and ends with an exit code,
// [Bench] shows the same work to `go test -bench` for profiles. Both sides are always measured in the same process, on
// the same data, in turn. Absolute numbers say more about the machine than about the code; ask for them with -v.
//
// # How it measures
//
// A first, uncounted measurement of each side finds how many iterations take the wanted time. Every later measurement
// does exactly that many iterations. A round measures both sides, one right after the other; the other side goes first
// in the next round. The testing package collects garbage before each measurement, so that neither side pays for the
// other's.
//
// The result is the median of the rounds' ratios, not the ratio of the two medians. Both survive a few disturbed
// measurements. But other processes rarely disturb a single measurement: they come, stay for seconds and go, and clocks
// drift. That affects both halves of a round alike, and cancels in its ratio. If about half of the rounds are
// disturbed, it changes the median of one side but not of the other. In a simulation of 9 rounds with load that comes
// and goes (1.6 times slower, 6 measurements long on average) 95 of 100 medians of ratios were within 2 % of the truth,
// and 95 of 100 ratios of medians within 60 %. With independent spikes it was 13 % and 28 %.
//
// # Other figures than time
//
// A pair may compare allocations ([Pair.Allocs]), or a metric that its benchmarks compute and report by b.ReportMetric
// ([Pair.Metric]), such as the median of latencies or the bytes that an object takes; the result is still the median of
// the rounds' ratios.
//
// # When not
//
// It is no replacement for benchmarks in the module itself, which show where time and memory go, and it can't compare
// two versions of the same code: benchstat does that.
package ratio
