// Package ratio measures a piece of work next to a peer that does the same, and holds the ratio of the two to a goal.
//
// Use it for the main package of a module in tools/peers: [Main] prints one line per goal and ends with an exit code,
// [Bench] shows the same work to `go test -bench` for profiles. What is compared is always measured in the same
// process, on the same data, in turn. Absolute numbers say more about the machine than about the code; ask for them
// with -v.
//
// # How it measures
//
// A first, uncounted measurement of each side finds how many iterations take the wanted time; every later one does
// exactly that many. A round measures both sides, one right after the other, and who goes first changes from round to
// round. The testing package collects garbage before each measurement, so that neither side pays for the other's.
//
// The result is the median of the rounds' ratios, not the ratio of the two medians. Both survive a few disturbed
// measurements. But other processes rarely disturb a single one: they come, stay for seconds and go, and clocks drift.
// That meets both halves of a round alike and cancels in its ratio, while it moves the median of one side and not of
// the other when the disturbed rounds are about half. In a simulation of 9 rounds with load that comes and goes (1.6
// times slower, 6 measurements long on average) 95 of 100 results of the first kind were within 2 % of the truth, and
// within 60 % of the second; with independent spikes it was 13 % and 28 %.
//
// # Other figures than time
//
// A pair may compare allocations ([Pair.Allocs]), or what its benchmarks work out and report by b.ReportMetric
// ([Pair.Metric]), such as the median of latencies or the bytes that an object takes; the result is still the median of
// the rounds' ratios.
//
// # When not
//
// It is no replacement for benchmarks in the module itself, which show where time and memory go, and it can't compare
// two versions of the same code: benchstat does that.
package ratio
