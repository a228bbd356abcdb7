package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

func TestTable(t *testing.T) {
	t.Parallel()
	head := "| figure | operkit | cr-update | cr-apply | ratio | goal |\n|---|---:|---:|---:|---:|---:|\n"
	ratio := together(rounds(ours, "seconds", 1, 2, 1.26), rounds(peer, "seconds", 4, 4, 4), rounds(other, "seconds", -1, 9, -1))
	for _, test := range []struct {
		reason string
		row    report.Row
		rounds []report.Round
		want   string
	}{
		{
			"an operator that has fewer rounds says so", burst, ratio,
			"| Burst (s) | 1.3 (1.0-2.0) | 4.0 (4.0-4.0) | 9.0 (9.0-9.0), 1 of 3 rounds | 0.315 of cr-update | 1.1 ok |\n",
		},
		{
			"ranges that overlap", burst, together(rounds(ours, "seconds", 1, 4), rounds(peer, "seconds", 2, 8)),
			"| Burst (s) | 2.5 (1.0-4.0) | 5.0 (2.0-8.0) | - | 0.500 of cr-update, ranges overlap | 1.1 ok |\n",
		},
		{
			"a count, missed, that others don't have", calls, rounds(ours, "calls", 7),
			"| Calls | 7 (7-7) | - | - | - | 6 MISSED |\n",
		},
		{
			"without a goal", with(calls, func(r *report.Row) { r.Reported = true }), rounds(ours, "calls", 7),
			"| Calls | 7 (7-7) | - | - | - | - |\n",
		},
		{
			"without a title", with(calls, func(r *report.Row) { r.Title, r.Unit = "", "MiB" }), rounds(ours, "calls", 1),
			"| bench-calls (MiB) | 1 (1-1) | - | - | - | 6 ok |\n",
		},
		{
			"a title that would end its cell", with(calls, func(r *report.Row) { r.Title = "a|b\nc" }),
			rounds(ours, "calls", 1), "| a\\|b c | 1 (1-1) | - | - | - | 6 ok |\n",
		},
		{
			"an error, with what there is", burst, rounds(ours, "seconds", 1),
			"| Burst (s) | 1.0 (1.0-1.0) | - | - | " +
				"error: bench-burst: round 1: cr-update has no seconds: measure the round again | 1.1 |\n",
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			r := report.Report{Operators: operators(), Rows: []report.Row{test.row}, Rounds: test.rounds}
			require.NoError(t, r.Table(&out))
			assert.Equal(t, head+test.want, out.String())
			require.ErrorIs(t, r.Table(broken{}), errBroken)
		})
	}
}
