package explore

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operator explores a small operator: its sound twin, or the one with the fault.
type operator func(t *testing.T, sound bool, opts ...Option) report

// faulty is an operator with a fault that the explorer must find.
type faulty struct {
	// fault begins with the rule that the row proves.
	fault string
	// source is the public report that the operator is made after, as repository and number; the link stands beside the
	// operator. Else it is a pattern of Sieve or Acto, or a mistake of beginners.
	source, style string
	explore       operator
	// story are parts of the story: the disturbance, the object and the field.
	story []string
	// long has the sound twin explored for ten minutes in a long run.
	long bool
}

// tableRow is a row of the table that TestFaults prints.
const tableRow = "%-34s %-36s %-8s %6v %4v %5v"

func TestFaults(t *testing.T) {
	table := []string{fmt.Sprintf(tableRow, "fault", "source", "style", "states", "s", "lines")}
	for _, row := range faultyOperators() {
		t.Run(row.fault, func(t *testing.T) {
			began := time.Now()
			r := row.explore(t, false, Findings(1))
			took := time.Since(began)
			require.NotEmpty(t, r.findings, stories(r))
			story := r.findings[0].story()
			t.Logf("%s\n%s", r, story)
			for _, part := range row.story {
				assert.Contains(t, story, part)
			}
			lines := strings.Count(story, "\n") + 1
			t.Run("explore 4: it is told in 15 lines, and replayed", func(t *testing.T) { assert.LessOrEqual(t, lines, 15, story) })
			_, fault, _ := strings.Cut(row.fault, ": ")
			table = append(table, fmt.Sprintf(tableRow, fault, row.source, row.style, r.visited, fmt.Sprintf("%.1f", took.Seconds()), lines))
			t.Run("explore 1: without the fault", func(t *testing.T) { row.exploreTwin(t, r.visited) })
		})
	}
	t.Logf("found:\n%s", strings.Join(table, "\n"))
}

// exploreTwin explores the operator without its fault: with somewhat more states than the fault needed, at most 180,
// and in a long run for a minute or ten.
func (f faulty) exploreTwin(t *testing.T, states int) {
	t.Helper()
	opts := []Option{States(min(states, 150) + 30)}
	var lasts time.Duration
	if os.Getenv("OPERKIT_SOAK") != "" {
		opts, lasts = []Option{States(5000)}, time.Minute
		if f.long {
			lasts = 10 * time.Minute
		}
	}
	began := time.Now()
	for seed := uint64(1); seed == 1 || time.Since(began) < lasts; seed++ {
		r := f.explore(t, true, append(opts, Seed(seed))...)
		require.Empty(t, r.findings, stories(r))
	}
}

// exploredFor explores a controller with few fields to edit, so that its faults are found soon.
func exploredFor[C controlling](t *testing.T, controller func() C, start starter[C], opts []Option) report {
	t.Helper()
	o, err := newOptions(append([]Option{Definitions("testdata/faults/crd"), Samples("testdata/faults/samples")}, opts...))
	require.NoError(t, err)
	r, err := explorerOf(t, controller, o, start).explore()
	require.NoError(t, err)
	return r
}

// driven returns an operator of any style but sessions. extra are further options.
func driven[C watch.Controller](newController func(sound bool) C, extra ...Option) operator {
	return func(t *testing.T, sound bool, opts ...Option) report {
		t.Helper()
		return exploredFor(t, func() C { return newController(sound) }, startDriven, append(opts, extra...))
	}
}
