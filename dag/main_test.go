package dag_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/dag"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// graphOf makes a graph whose nodes carry their names as data. Each edge is {dependent,
// dependency}.
func graphOf(tb testing.TB, names []string, edges ...[2]string) *dag.Graph[string] {
	tb.Helper()
	g := dag.New[string]()
	for _, name := range names {
		require.NoError(tb, g.Add(name, name))
	}
	for _, e := range edges {
		require.NoError(tb, g.Depend(e[0], e[1]))
	}
	return g
}

// recorder is a visit that takes down which nodes it was called for, and answers as told.
type recorder struct {
	mu      sync.Mutex
	started []string
	answers map[string]error
	// before is called for each node before it is answered.
	before func(ctx context.Context, name string)
}

func (r *recorder) visit(ctx context.Context, name string, _ string) error {
	r.mu.Lock()
	r.started = append(r.started, name)
	r.mu.Unlock()
	if r.before != nil {
		r.before(ctx, name)
	}
	return r.answers[name]
}

func (r *recorder) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.started)
}

// concurrencies are those that every outcome has to be the same with.
var concurrencies = map[string]int{"inline": 0, "one worker": 1, "two workers": 2, "eight workers": 8}

// eachConcurrency runs test with each of them.
func eachConcurrency(t *testing.T, test func(t *testing.T, concurrency dag.Option)) {
	t.Helper()
	for name, n := range concurrencies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, dag.Concurrency(n))
		})
	}
}
