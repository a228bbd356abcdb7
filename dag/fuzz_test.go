package dag_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// FuzzGraph reads the input as a list of decisions: which nodes and edges to add, which of them
// are refused, what to disable, how each node and predicate behaves. Graph and run have to do
// what the model says.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 0, 0, 1, 0, 2, 0, 3, 0, 1, 1, 1, 0, 1})
	f.Add([]byte{5, 0, 0, 1, 0, 2, 0, 3, 6, 4, 7, 5, 8, 20, 1, 0, 0, 0, 2, 1, 1, 3, 2, 0, 6, 0, 2, 2, 1})
	f.Add([]byte("\x0b\x00\x00\x01\x00\x02\x09\x03\x00\x04\x05\x05\x00\x06\x00\x07\x08\x1e\x01\x00\x00\x07\x02\x00\x00\x09\x03\x01"))
	f.Fuzz(func(t *testing.T, decisions []byte) {
		at := 0
		s := newScenario(t, func(n int) int {
			if at == len(decisions) || n == 0 {
				return 0
			}
			at++
			return int(decisions[at-1]) % n
		}, false)
		for _, concurrency := range []int{0, 3} {
			s.checkOutcome(t, s.run(t.Context(), t, dag.Concurrency(concurrency), dag.PollInterval(time.Millisecond)))
		}
	})
}

// FuzzDraw checks that no name breaks out of its place in a picture, and that different names
// stay different.
func FuzzDraw(f *testing.F) {
	f.Add("a", "b")
	f.Add("a\n", `a\n`)
	f.Add(`a\`, `a\"]; x -> y; "`)
	f.Add("a\x00\xff", "a#34;<br>`&amp;")
	f.Fuzz(func(t *testing.T, a, b string) {
		g := dag.New[int]()
		if g.Add(a, 0) != nil || g.Add(b, 0) != nil || g.Depend(a, b) != nil {
			return
		}
		state, err := dag.NewState(dag.Outcomes{Failed: []string{a}, Unstarted: []string{b},
			Errors: []dag.NodeError{{Name: a, Err: errors.New(b)}}, Reasons: map[string]string{b: a}})
		require.NoError(t, err)
		lines := strings.Split(g.DOT(dag.WithState(state)), "\n")
		require.Len(t, lines, 8)
		first, second := quoted(t, lines[3]), quoted(t, lines[4])
		require.NotEqual(t, first[0], second[0])
		require.Equal(t, []string{first[0], second[0]}, quoted(t, lines[5]))
		for _, line := range strings.Split(g.Mermaid(dag.WithState(state)), "\n")[1:3] {
			require.Equal(t, 2, strings.Count(line, `"`))
			require.True(t, strings.HasSuffix(line, `"]`))
			require.True(t, utf8.ValidString(line))
		}
	})
}

// quoted reads the quoted strings of a line of DOT as Graphviz does: a backslash takes the next
// character along.
func quoted(t *testing.T, line string) (list []string) {
	t.Helper()
	start := -1
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && start >= 0:
			i++
		case line[i] == '"' && start < 0:
			start = i + 1
		case line[i] == '"':
			list = append(list, line[start:i])
			start = -1
		}
	}
	require.Equal(t, -1, start, "a string that doesn't end: %s", line)
	return list
}
