package explore

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operator is a small operator, and its sound twin.
type operator struct {
	// explore explores it.
	explore func(t *testing.T, sound bool, opts ...Option) report
	// start starts it in a harness.
	start func(t reconciletest.T, sound bool, opts ...reconciletest.Option) *reconciletest.Harness
}

// faulty is an operator with a fault that the explorer must find.
type faulty struct {
	// fault begins with the rule that the row proves.
	fault string
	// source is the public report that the operator is made after, as repository and number; the link stands beside the
	// operator. Else it is a pattern of Sieve or Acto, or a mistake of beginners.
	source, style string
	operator
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
			r := row.explore(t, false, Findings(9), until(row.story))
			took := time.Since(began)
			story := storyWith(r, row.story)
			require.NotEmpty(t, story, stories(r))
			t.Logf("%s\n%s", r, story)
			lines := strings.Count(story, "\n") + 1
			t.Run("explore 4: it is told in 15 lines, and replayed", func(t *testing.T) { assert.LessOrEqual(t, lines, 15, story) })
			_, fault, _ := strings.Cut(row.fault, ": ")
			table = append(table, fmt.Sprintf(tableRow, fault, row.source, row.style, r.visited, fmt.Sprintf("%.1f", took.Seconds()), lines))
			t.Run("explore 1: without the fault", func(t *testing.T) { row.exploreTwin(t, r.visited) })
		})
	}
	t.Logf("found:\n%s", strings.Join(table, "\n"))
}

// until ends an exploration when a story has all of some parts: an operator may have several faults.
func until(parts []string) Option {
	return func(o *options) { o.enough = func(r report) bool { return storyWith(r, parts) != "" } }
}

// storyWith returns the first story that has all of some parts, empty if there is none.
func storyWith(r report, parts []string) string {
	for _, f := range r.findings {
		if story := f.story(); !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(story, part) }) {
			return story
		}
	}
	return ""
}

// exploreTwin explores the operator without its fault: with somewhat more states than the fault needed, at most 180,
// and in a long run for a minute or ten.
func (f faulty) exploreTwin(t *testing.T, states int) {
	t.Helper()
	opts := []Option{States(min(states, 150) + 30)}
	var lasts time.Duration
	if os.Getenv("OPERKIT_SOAK") != "" {
		if lasts = time.Minute; f.long {
			lasts = 10 * time.Minute
		}
		opts = []Option{For(lasts)}
	}
	began := time.Now()
	for seed := uint64(1); seed == 1 || time.Since(began) < lasts; seed++ {
		r := f.explore(t, true, append(opts, Seed(seed))...)
		require.Empty(t, r.findings, stories(r))
	}
}

// exploredFor explores a controller with few fields to edit, so that its faults are found soon. Its children have fixed
// names, unless an option says that it is for two resources.
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
	return operatorOf(newController, startDriven[C], extra)
}

func operatorOf[C controlling](newController func(sound bool) C, start starter[C], extra []Option) operator {
	return operator{
		explore: func(t *testing.T, sound bool, opts ...Option) report {
			t.Helper()
			return exploredFor(t, func() C { return newController(sound) }, start, append(opts, extra...))
		},
		start: func(t reconciletest.T, sound bool, opts ...reconciletest.Option) *reconciletest.Harness {
			t.Helper()
			return start(t, newController(sound), opts)
		},
	}
}
