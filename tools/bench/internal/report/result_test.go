package report_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

// with is a row that differs a little.
func with(row report.Row, change func(*report.Row)) report.Row {
	change(&row)
	return row
}

func result(t *testing.T, row report.Row, rounds []report.Round) report.Result {
	t.Helper()
	before := slices.Clone(rounds)
	results, err := report.Report{Operators: operators(), Rows: []report.Row{row}, Rounds: rounds}.Results()
	require.NoError(t, err)
	require.Len(t, results, 1)
	require.Equal(t, before, rounds, "the input isn't mutated")
	return results[0]
}

func TestResults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason       string
		row          report.Row
		rounds       []report.Round
		want         float64
		met, overlap bool
	}{
		{
			"the median of the rounds' ratios and not the ratio of medians, which is 1", burst,
			together(rounds(ours, "seconds", 1, 4, 10), rounds(peer, "seconds", 2, 8, 4)), 0.5, true, true,
		},
		{
			"a disturbance that meets both sides of a round cancels", burst,
			together(rounds(ours, "seconds", 1, 10, 1), rounds(peer, "seconds", 2, 20, 2)), 0.5, true, true,
		},
		{
			"rounds are paired by number, not by their order", burst,
			together(rounds(ours, "seconds", 1, 10), []report.Round{
				round(peer, 2, figures(map[string]float64{"seconds": 20})),
				round(peer, 1, figures(map[string]float64{"seconds": 2})),
			}), 0.5, true, true,
		},
		{
			"an even number: the mean of the two in the middle", burst,
			together(rounds(ours, "seconds", 1, 2), rounds(peer, "seconds", 1, 1)), 1.5, false, true,
		},
		{"just the goal", burst, together(rounds(ours, "seconds", 11), rounds(peer, "seconds", 10)), 1.1, true, false},
		{
			"ahead in every round of the other", burst, together(rounds(ours, "seconds", 1, 2), rounds(peer, "seconds", 3, 4)),
			0.416666, true, false,
		},
		{
			"behind in every round of the other", burst, together(rounds(ours, "seconds", 3, 4), rounds(peer, "seconds", 1, 2)),
			2.5, false, false,
		},
		{
			"ranges that touch overlap", burst, together(rounds(ours, "seconds", 1, 2), rounds(peer, "seconds", 2, 4)), 0.5,
			true, true,
		},
		{"ours may be nothing", burst, together(rounds(ours, "seconds", 0), rounds(peer, "seconds", 2)), 0, true, false},
		{
			"a count is of ours alone", calls, together(rounds(ours, "calls", 6, 6, 9), rounds(peer, "calls", 1, 1, 1)), 6,
			true, false,
		},
		{"a count needs no other operator", calls, rounds(ours, "calls", 7), 7, false, false},
		{"a goal of nothing", with(calls, func(r *report.Row) { r.Goal = 0 }), rounds(ours, "calls", 0, 0), 0, true, false},
		{
			"a goal of nothing that is missed", with(calls, func(r *report.Row) { r.Goal = 0 }), rounds(ours, "calls", 1, 1), 1,
			false, false,
		},
		{
			"without a goal nothing is missed", with(calls, func(r *report.Row) { r.Goal, r.Reported = 0, true }),
			rounds(ours, "calls", 7), 7, true, false,
		},
		{
			"per Bundle", with(calls, func(r *report.Row) { r.Per = report.Bundles }), rounds(ours, "calls", 60, 60), 6, true,
			false,
		},
		{
			"per another figure of the same round, of another part and size",
			with(calls, func(r *report.Row) { r.Per = "at-rest" }),
			together(rounds(ours, "calls", 10, 60), []report.Round{
				round(ours, 1, report.Round{Bundles: 1, Figures: map[string]float64{"at-rest": 5}}),
				round(ours, 2, report.Round{Bundles: 1, Figures: map[string]float64{"at-rest": 6}}),
			}), 6, true, false,
		},
		{
			"both sides of a ratio are divided, and so are the ranges", with(burst, func(r *report.Row) { r.Per = "edits" }),
			[]report.Round{
				round(ours, 1, figures(map[string]float64{"seconds": 4, "edits": 4})),
				round(peer, 1, figures(map[string]float64{"seconds": 4, "edits": 2})),
			}, 0.5, true, false,
		},
		{
			"the least number of rounds", with(calls, func(r *report.Row) { r.Rounds = 2 }), rounds(ours, "calls", 1, 1), 1,
			true, false,
		},
		{
			"rounds of operators that aren't shown don't count", calls,
			together(rounds(ours, "calls", 6), rounds("stranger", "calls", 1, 1)), 6, true, false,
		},
		{
			"rounds of other figures don't count", calls, together(rounds(ours, "calls", 6), rounds(ours, "seconds", -1, 1)), 6,
			true, false,
		},
		{"others may miss a round", calls, together(rounds(ours, "calls", 6, 6), rounds(other, "calls", -1, 9)), 6, true, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			got := result(t, test.row, test.rounds)
			require.NoError(t, got.Err)
			assert.InDelta(t, test.want, got.Value, 1e-5)
			assert.Equal(t, test.met, got.Met, "met")
			assert.Equal(t, test.overlap, got.Overlap, "overlap")
		})
	}
}

func TestSpreads(t *testing.T) {
	t.Parallel()
	got := result(t, burst, together(
		rounds(other, "seconds", 5, -1, 9), rounds(ours, "seconds", 3, 1, 2), rounds(peer, "seconds", 4, 4, 4),
	))
	require.NoError(t, got.Err)
	assert.Equal(t, 3, got.Rounds)
	assert.Equal(t, []report.Spread{
		{Operator: ours, Median: 2, Min: 1, Max: 3, Rounds: 3},
		{Operator: peer, Median: 4, Min: 4, Max: 4, Rounds: 3},
		{Operator: other, Median: 7, Min: 5, Max: 9, Rounds: 2},
	}, got.Spreads, "in the order of the report")
	perBundle := with(burst, func(r *report.Row) { r.Per = report.Bundles })
	divided := result(t, perBundle, together(rounds(ours, "seconds", 20, 40), rounds(peer, "seconds", 5, 5)))
	of, there := divided.Of(ours)
	assert.True(t, there)
	assert.Equal(t, report.Spread{Operator: ours, Median: 3, Min: 2, Max: 4, Rounds: 2}, of, "in the unit of the row")
	_, there = divided.Of(other)
	assert.False(t, there, "not measured")
}

func TestResultsThatAreErrors(t *testing.T) {
	t.Parallel()
	both := together(rounds(ours, "seconds", 1, 2), rounds(peer, "seconds", 1, 2))
	for _, test := range []struct {
		reason string
		row    report.Row
		rounds []report.Round
		want   string
	}{
		{"nothing measured", burst, nil, "bench-burst: seconds is in 0 rounds and should be in 1"},
		{"another figure measured", calls, both, "bench-calls: calls is in 0 rounds"},
		{
			"ours is missing in a round", burst, together(rounds(ours, "seconds", 1, -1), rounds(peer, "seconds", 1, 2)),
			"round 2: operkit has no seconds: measure the round again",
		},
		{
			"the peer is missing in a round", burst, together(rounds(ours, "seconds", 1, 2), rounds(peer, "seconds", -1, 2)),
			"round 1: cr-update has no seconds: measure the round again",
		},
		{
			"both miss a round that another operator has", burst, together(both, rounds(other, "seconds", 1, 2, 3)),
			"round 3: operkit has no seconds",
		},
		{"a count that only others have", calls, rounds(peer, "calls", 1), "round 1: operkit has no calls"},
		{"reported or not", with(calls, func(r *report.Row) { r.Reported = true }), nil, "calls is in 0 rounds"},
		{
			"fewer rounds than wanted", with(burst, func(r *report.Row) { r.Rounds = 3 }), both,
			"seconds is in 2 rounds and should be in 3: measure the others",
		},
		{
			"the peer has nothing", burst, together(rounds(ours, "seconds", 1, 2), rounds(peer, "seconds", 1, 0)),
			"round 2: seconds of cr-update is 0: nothing to compare with",
		},
		{
			"both have nothing", burst, together(rounds(ours, "seconds", 0), rounds(peer, "seconds", 0)),
			"seconds of cr-update is 0",
		},
		{
			"another size", burst,
			append(rounds(ours, "seconds", 1),
				round(peer, 1, report.Round{Bundles: 20, Figures: map[string]float64{"seconds": 2}})),
			"round 1: operkit has 10 Bundles and cr-update 20: only the same work can be compared",
		},
		{
			"the divisor is missing", with(burst, func(r *report.Row) { r.Per = "edits" }), both,
			"round 1: operkit has no edits to divide seconds by",
		},
		{
			"the divisor is nothing", with(calls, func(r *report.Row) { r.Per = "edits" }),
			[]report.Round{round(ours, 1, figures(map[string]float64{"calls": 1, "edits": 0}))},
			"round 1: operkit: edits is 0: nothing to divide calls by",
		},
		{
			"no Bundles to divide by", with(calls, func(r *report.Row) { r.Per = report.Bundles }),
			[]report.Round{{Operator: ours, Number: 1, Figures: map[string]float64{"calls": 1}}}, "bundles is 0",
		},
		{
			"the same figure of two parts", calls, together(rounds(ours, "calls", 1), rounds(ours, "calls", 2)),
			"round 1: operkit has calls twice",
		},
		{"no number", calls, rounds(ours, "calls", 1, math.Inf(1)), "round 2: operkit: figure calls is +Inf"},
		{"no figure", with(burst, func(r *report.Row) { r.Figure = "" }), both, `figure ""`},
		{"a divisor that can't name a chart", with(burst, func(r *report.Row) { r.Per = "a b" }), both, `per "a b"`},
		{"no peer", with(burst, func(r *report.Row) { r.Peer = "" }), both, "no peer: a ratio needs an operator to compare with"},
		{
			"a peer that isn't shown", with(burst, func(r *report.Row) { r.Peer = "stranger" }), both,
			"peer stranger: it must be one of the operators, and not ours",
		},
		{
			"a peer that is ours", with(burst, func(r *report.Row) { r.Peer = ours }), both,
			"peer operkit: it must be one of the operators, and not ours",
		},
		{
			"a count with a peer", with(calls, func(r *report.Row) { r.Peer = peer }), rounds(ours, "calls", 1),
			"peer cr-update: a count has none",
		},
		{"another kind", with(burst, func(r *report.Row) { r.Kind = 2 }), both, "Kind(2): there are only ratios and counts"},
		{"decimals that can't be", with(burst, func(r *report.Row) { r.Decimals = -1 }), both, "-1 decimals"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			got := result(t, test.row, test.rounds)
			require.ErrorContains(t, got.Err, test.row.Name+": ")
			require.ErrorContains(t, got.Err, test.want)
			assert.False(t, got.Met, "never silently ok")
			assert.Zero(t, got.Value)
			assert.False(t, got.Overlap)
		})
	}
}

func TestReportThatSaysNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason string
		report report.Report
		want   string
	}{
		{"no rows, no goals", report.Report{Operators: operators()}, "report: no rows"},
		{"nobody to show", report.Report{Rows: []report.Row{calls}}, "report: no operators"},
		{
			"an operator that is its own peer", report.Report{Operators: []string{ours, peer, ours}, Rows: []report.Row{calls}},
			"operator operkit is named twice",
		},
		{
			"lines that can't be told apart", report.Report{Operators: operators(), Rows: []report.Row{calls, calls}},
			"row bench-calls is there twice",
		},
		{"a line without a name", report.Report{Operators: operators(), Rows: []report.Row{{}}}, `row ""`},
		{
			"a name that would be two fields of its line",
			report.Report{Operators: operators(), Rows: []report.Row{{Name: "a b"}}}, `row "a b"`,
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			_, err := test.report.Results()
			require.ErrorContains(t, err, test.want)
			met, err := test.report.Lines(broken{})
			require.ErrorContains(t, err, test.want)
			assert.False(t, met)
			require.ErrorContains(t, test.report.Table(broken{}), test.want)
			require.ErrorContains(t, test.report.Charts(t.TempDir()), test.want)
		})
	}
}
