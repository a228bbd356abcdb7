package dag_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestReverse(t *testing.T) {
	t.Parallel()
	edges := [][2]string{{"web", "api"}, {"web", "cache"}, {"api", "db"}, {"x", "db"}}
	for name, n := range map[string]int{"inline": 0, "one worker": 1} {
		t.Run("dag 17: dependents before dependencies, ascending names in each set, "+name, func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{"db", "api", "cache", "web", "x"}, edges...)
			r := &recorder{}
			state, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(n), dag.Reverse())
			require.NoError(t, err)
			assert.Equal(t, []string{"web", "x", "api", "cache", "db"}, r.order())
			assert.True(t, state.VerifyCompleted())
			r = &recorder{}
			_, err = dag.Run(t.Context(), g, r.visit, dag.Concurrency(n))
			require.NoError(t, err)
			assert.Equal(t, []string{"cache", "db", "api", "x", "web"}, r.order(), "an ordinary run of it goes up as before")
		})
	}
	t.Run("dag 21: a failure holds back what it depends on, and only that", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"db", "api", "cache", "web", "x"}, edges...)
			r := &recorder{answers: map[string]error{"api": errBoom}}
			state, err := dag.Run(t.Context(), g, r.visit, concurrency, dag.Reverse())
			require.NoError(t, err)
			assert.Equal(t, []string{"cache", "web", "x"}, state.Verified())
			assert.Equal(t, []string{"db"}, state.Unstarted())
			assert.Equal(t, "waits for api (failed)", state.Reason("db"))
		})
	})
	t.Run("dag 26: so does a disabled one", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"db", "api", "cache", "web", "x"}, edges...)
			g.Disable("x")
			state, err := dag.Run(t.Context(), g, nil, concurrency, dag.Reverse())
			require.NoError(t, err)
			assert.Equal(t, []string{"api", "cache", "web"}, state.Verified())
			assert.Equal(t, "disabled", state.Reason("x"))
			assert.Equal(t, "waits for x (disabled)", state.Reason("db"))
		})
	})
	t.Run("dag 17: predicates aren't asked", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b"})
		gate := says(false)
		require.NoError(t, g.Depend("b", "a", dag.When(gate.ask)))
		state, err := dag.Run(t.Context(), g, nil, dag.Reverse())
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, state.Verified())
		assert.Empty(t, gate.asked)
	})
	t.Run("dag 17: random graphs, up and down at once", func(t *testing.T) {
		t.Parallel()
		g := randomGraph(t, 500, 2000)
		for _, n := range concurrencies {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				run(t, g, n)
			}()
			order := map[string]int{}
			state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ int) error {
				order[name] = len(order)
				return nil
			}, dag.Concurrency(n/8), dag.Reverse())
			require.NoError(t, err)
			require.True(t, state.VerifyCompleted())
			for _, name := range g.Names() {
				for _, dependency := range g.Dependencies(name) {
					require.Less(t, order[name], order[dependency])
				}
			}
			<-ended
		}
	})
}
