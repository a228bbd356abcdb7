package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/bench/internal/report"
)

func TestTrapTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	traps := []report.Trap{
		{Name: "a label | stays", Operator: ours, Holds: true, Evidence: "team: red\nis there"},
		{Name: "a child disappears", Operator: peer, Evidence: "`old` is there"},
		{Name: "a label | stays", Operator: peer, Evidence: "gone"},
	}
	require.NoError(t, report.TrapTable(&out, traps))
	assert.Equal(t, `| trap | operkit | cr-update |
|---|---:|---:|
| a label \| stays | yes | no |
| a child disappears | - | no |

Evidence:

- a label | stays
  - operkit, yes: team: red is there
  - cr-update, no: gone
- a child disappears
  - cr-update, no: `+"`old` is there\n", out.String(), "in the order in which they appear")
	require.ErrorIs(t, report.TrapTable(broken{}, traps), errBroken)
}

func TestTrapTableRefuses(t *testing.T) {
	t.Parallel()
	good := report.Trap{Name: "n", Operator: ours, Holds: true, Evidence: "e"}
	for _, test := range []struct {
		reason string
		traps  []report.Trap
		want   string
	}{
		{"none", nil, "traps: there are none"},
		{"a claim", []report.Trap{{Name: "n", Operator: ours, Holds: true, Evidence: " \n"}}, `trap "n": operkit: no evidence`},
		{
			"two answers", []report.Trap{good, {Name: "n", Operator: ours, Evidence: "f"}},
			`trap "n": operkit: it is answered twice`,
		},
		{"nobody was asked", []report.Trap{{Name: "n", Evidence: "e"}}, "needs a name and an operator"},
		{"nothing was asked", []report.Trap{{Operator: ours, Evidence: "e"}}, "needs a name and an operator"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.ErrorContains(t, report.TrapTable(&out, test.traps), test.want)
			assert.Empty(t, out.String())
		})
	}
}
