package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

func TestLines(t *testing.T) {
	t.Parallel()
	ratio := func(mine, theirs float64) []report.Round {
		return together(rounds(ours, "seconds", mine), rounds(peer, "seconds", theirs))
	}
	for _, test := range []struct {
		reason string
		row    report.Row
		rounds []report.Round
		want   string
		met    bool
	}{
		{"three digits below 1", burst, ratio(1, 3), "RATIO bench-burst 0.333 goal 1.1 ok\n", true},
		{"three digits above 1", burst, ratio(4, 3), "RATIO bench-burst 1.333 goal 1.1 MISSED\n", false},
		{"whole ones have none", burst, ratio(6, 3), "RATIO bench-burst 2 goal 1.1 MISSED\n", false},
		{"none from 1000 on", burst, ratio(3001, 2), "RATIO bench-burst 1500 goal 1.1 MISSED\n", false},
		{"the bound holds for what isn't rounded", burst, ratio(1.10001, 1), "RATIO bench-burst 1.100 goal 1.1 MISSED\n", false},
		{
			"ranges that overlap, met", burst, together(rounds(ours, "seconds", 1, 4), rounds(peer, "seconds", 2, 8)),
			"RATIO bench-burst 0.500 goal 1.1 ok ranges overlap\n", true,
		},
		{
			"ranges that overlap, missed", burst, together(rounds(ours, "seconds", 4, 8), rounds(peer, "seconds", 2, 4)),
			"RATIO bench-burst 2 goal 1.1 MISSED ranges overlap\n", false,
		},
		{"a count", calls, rounds(ours, "calls", 6), "COUNT bench-calls 6 goal 6 ok\n", true},
		{"a count that is missed", calls, rounds(ours, "calls", 6.02), "COUNT bench-calls 6.020 goal 6 MISSED\n", false},
		{
			"no goal", with(calls, func(r *report.Row) { r.Reported = true }), rounds(ours, "calls", 25000000),
			"COUNT bench-calls 25000000 reported\n", true,
		},
		{
			"no goal, and a peer", with(burst, func(r *report.Row) { r.Reported = true }), ratio(2, 2),
			"RATIO bench-burst 1 reported ranges overlap\n", true,
		},
		{
			"an error", burst, rounds(ours, "seconds", 1),
			"ERROR bench-burst: round 1: cr-update has no seconds: measure the round again\n", false,
		},
		{
			"an error without a goal", with(calls, func(r *report.Row) { r.Reported = true }), nil,
			"ERROR bench-calls: calls is in 0 rounds and should be in 1: measure the others\n", false,
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			met, err := report.Report{Operators: operators(), Rows: []report.Row{test.row}, Rounds: test.rounds}.Lines(&out)
			require.NoError(t, err)
			assert.Equal(t, test.want, out.String())
			assert.Equal(t, test.met, met)
		})
	}
}

func TestLinesOfSeveralRows(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	measured := together(rounds(ours, "calls", 9), rounds(ours, "seconds", 1), rounds(peer, "seconds", 2))
	r := report.Report{Operators: operators(), Rows: []report.Row{calls, burst}, Rounds: measured}
	met, err := r.Lines(&out)
	require.NoError(t, err)
	assert.Equal(t, "COUNT bench-calls 9 goal 6 MISSED\nRATIO bench-burst 0.500 goal 1.1 ok\n", out.String())
	assert.False(t, met, "one that is met doesn't make up for one that is missed")
	r.Rows = []report.Row{burst}
	met, err = r.Lines(broken{})
	require.ErrorIs(t, err, errBroken)
	assert.False(t, met, "nobody saw it")
}
