package dag_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func explode()                                    { panic(errBoom) }
func leave()                                      { runtime.Goexit() }
func explodingGate(context.Context) (bool, error) { explode(); return true, nil }
func leavingGate(context.Context) (bool, error)   { leave(); return true, nil }

func TestPanic(t *testing.T) {
	t.Parallel()
	t.Run("dag 20: a panic in a visit fails its node, with the stack", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			for _, value := range []any{errBoom, "boom", nil} {
				g := graphOf(t, []string{"a", "b", "c"}, [2]string{"b", "a"})
				state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
					if name == "a" {
						if value == any(errBoom) {
							explode()
						}
						panic(value)
					}
					return nil
				}, concurrency)
				require.NoError(t, err)
				assert.Equal(t, []string{"a"}, state.Failed())
				assert.Equal(t, []string{"c"}, state.Verified())
				assert.Equal(t, "waits for a (failed)", state.Reason("b"))
				var caught *dag.PanicError
				require.ErrorAs(t, state.Err("a"), &caught)
				assert.Contains(t, string(caught.Stack), "panic_test.go")
				if value == any(errBoom) {
					assert.Contains(t, string(caught.Stack), "dag_test.explode")
					assert.ErrorIs(t, state.Err("a"), errBoom)
					assert.Regexp(t, `^panic: boom \(panic_test\.go:\d+\)$`, caught.Error())
				}
				assert.True(t, state.HasFailed())
			}
		})
	})
	t.Run("dag 18: a panic in a predicate keeps the dependent from starting", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := graphOf(t, []string{"a", "b", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(explodingGate)))
			r := &recorder{}
			state, err := dag.Run(t.Context(), g, r.visit, concurrency)
			require.NoError(t, err)
			assert.ElementsMatch(t, []string{"a", "c"}, r.order())
			assert.Equal(t, []string{"b"}, state.Unstarted())
			assert.Regexp(t, `^predicate error on edge to a: panic: boom \(panic_test\.go:\d+\)$`, state.Reason("b"))
			var caught *dag.PanicError
			require.ErrorAs(t, state.Err("b"), &caught)
			assert.Contains(t, string(caught.Stack), "dag_test.explode")
			assert.True(t, state.HasFailed())
		})
	})
}

func TestGoexit(t *testing.T) {
	t.Parallel()
	pools := map[string]int{"one worker": 1, "two workers": 2, "eight workers": 8}
	for name, n := range pools {
		t.Run("dag 20: Goexit in a visit fails its node, with the stack, "+name, func(t *testing.T) {
			t.Parallel()
			g := layeredDiamond(t, 10)
			for _, free := range []string{"x", "y", "z"} {
				require.NoError(t, g.Add(free, free))
			}
			state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
				switch name {
				case "0005l", "x", "y", "z": // more of them than there are workers
					leave()
				}
				return nil
			}, dag.Concurrency(n))
			require.NoError(t, err)
			assert.Equal(t, []string{"0005l", "x", "y", "z"}, state.Failed())
			assert.Len(t, state.Verified(), 11)
			assert.Len(t, state.Unstarted(), 8)
			var caught *dag.GoexitError
			require.ErrorAs(t, state.Err("x"), &caught)
			assert.Contains(t, string(caught.Stack), "dag_test.leave")
			assert.EqualError(t, caught, "runtime.Goexit was called")
		})
		t.Run("dag 18: Goexit in a predicate keeps the dependent from starting, "+name, func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "a"})
			require.NoError(t, g.Depend("b", "a", dag.When(leavingGate)))
			r := &recorder{}
			state, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(n))
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "c"}, r.order())
			assert.Equal(t, "predicate error on edge to a: runtime.Goexit was called", state.Reason("b"))
			var caught *dag.GoexitError
			require.ErrorAs(t, state.Err("b"), &caught)
			assert.Contains(t, string(caught.Stack), "dag_test.leave")
		})
	}
	for what, gate := range map[string]dag.Predicate{"visit": nil, "predicate": leavingGate} {
		t.Run("dag 15: inline, Goexit in a "+what+" ends the caller", func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{"a", "b"})
			require.NoError(t, g.Depend("b", "a", dag.When(gate)))
			returned, ended := false, make(chan struct{})
			go func() {
				defer close(ended)
				_, err := dag.Run(t.Context(), g, func(context.Context, string, string) error {
					if gate == nil {
						leave()
					}
					return nil
				}, dag.Concurrency(0))
				returned = errors.Is(err, nil)
			}()
			<-ended
			assert.False(t, returned)
			state, err := dag.Run(t.Context(), g, nil, dag.WithoutPredicates())
			require.NoError(t, err, "the graph can be run again")
			assert.True(t, state.VerifyCompleted())
		})
	}
}
