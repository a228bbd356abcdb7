package dag_test

import (
	"testing"
	"time"

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
