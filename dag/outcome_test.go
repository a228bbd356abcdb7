package dag_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// flagged is an error that says by itself whether it is fatal.
type flagged struct {
	text  string
	fatal bool
}

func (f *flagged) Error() string { return f.text }
func (f *flagged) Fatal() bool   { return f.fatal }

func TestOutcomes(t *testing.T) {
	t.Parallel()
	expected := &flagged{"not yet", false}
	for _, row := range []struct {
		why       string
		answer    error
		set       string
		hasFailed bool
	}{
		{"dag 20: nil is verified", nil, "verified", false},
		{"dag 20: Unverified with an expected cause", dag.Unverified(expected), "unverified", false},
		{"dag 20: Unverified without a cause", dag.Unverified(nil), "unverified", false},
		{"dag 20: Unverified with a cause that says nothing: fatal for the run", dag.Unverified(errBoom), "unverified", true},
		{"dag 20: Unverified with a cause marked Expected", dag.Unverified(dag.Expected(errBoom)), "unverified", false},
		{"dag 20: wrapped once more", fmt.Errorf("web: %w", dag.Unverified(expected)), "unverified", false},
		{"dag 20: several, all unverified", errors.Join(dag.Unverified(expected), dag.Unverified(expected)), "unverified", false},
		{"dag 20: several, one of them not", errors.Join(dag.Unverified(expected), errBoom), "failed", true},
		{"dag 20: any other error", errBoom, "failed", true},
		{"dag 20: an expected error fails its node all the same", dag.Expected(errBoom), "failed", true},
		{"dag 20: the error of an ended context is one like any other", context.Canceled, "failed", true},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
				r := &recorder{answers: map[string]error{"a": row.answer}}
				state, err := dag.Run(t.Context(), g, r.visit, concurrency)
				require.NoError(t, err, "the outcome of a node is no error of the run")
				sets := map[string][]string{"verified": state.Verified(), "unverified": state.Unverified(), "failed": state.Failed()}
				assert.Contains(t, sets[row.set], "a")
				assert.Equal(t, row.hasFailed, state.HasFailed())
				assert.Equal(t, row.answer, state.Err("a"), "kept as it was returned")
				assert.NoError(t, state.Err("b"))
				if row.answer == nil {
					assert.Equal(t, []string{"a", "b"}, r.order())
					assert.NoError(t, state.Headline())
					return
				}
				assert.Equal(t, []string{"a"}, r.order(), "dag 17: an unsuccessful child satisfies no edge")
				assert.Equal(t, "waits for a ("+row.set+")", state.Reason("b"))
				assert.Equal(t, []dag.NodeError{{Name: "a", Err: row.answer}}, state.Errors())
				assert.ErrorIs(t, state.Headline(), row.answer)
			})
		})
	}
}

func TestFailureHoldsBackDependentsOnly(t *testing.T) {
	t.Parallel()
	branches := func(t *testing.T) *dag.Graph[string] {
		return graphOf(t, []string{"a", "b", "c", "x", "y", "z"},
			[2]string{"b", "a"}, [2]string{"c", "b"}, [2]string{"y", "x"}, [2]string{"z", "y"})
	}
	for why, answer := range map[string]error{
		"failed":     errBoom,
		"unverified": dag.Unverified(dag.Expected(errBoom)),
	} {
		t.Run("dag 21: independent branches go on when a node is "+why, func(t *testing.T) {
			t.Parallel()
			eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
				r := &recorder{answers: map[string]error{"a": answer}}
				state, err := dag.Run(t.Context(), branches(t), r.visit, concurrency)
				require.NoError(t, err)
				assert.ElementsMatch(t, []string{"a", "x", "y", "z"}, r.order())
				assert.Equal(t, []string{"x", "y", "z"}, state.Verified())
				assert.Equal(t, []string{"b", "c"}, state.Unstarted())
				assert.Equal(t, "waits for a ("+why+")", state.Reason("b"))
				assert.Equal(t, "waits for b (unstarted)", state.Reason("c"))
				assert.Equal(t, why == "failed", state.HasFailed())
				assert.False(t, state.VerifyCompleted())
			})
		})
	}
	t.Run("dag 21: in the middle of a chain", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b", "c"}, [2]string{"b", "a"}, [2]string{"c", "b"})
		r := &recorder{answers: map[string]error{"b": errBoom}}
		state, err := dag.Run(t.Context(), g, r.visit)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, r.order())
		assert.Equal(t, []string{"a"}, state.Verified())
		assert.Equal(t, []string{"b"}, state.Failed())
		assert.Equal(t, []string{"c"}, state.Unstarted())
	})
	t.Run("dag 21, dag 25: what is in flight ends, and the run waits for it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := graphOf(t, []string{"fails", "slow"})
			ended := false
			begin := time.Now()
			state, err := dag.Run(t.Context(), g, func(ctx context.Context, name string, _ string) error {
				if name == "fails" {
					time.Sleep(time.Second) // by now the other one is in flight
					return errBoom
				}
				time.Sleep(time.Minute)
				ended = true
				return ctx.Err()
			}, dag.Concurrency(2), dag.FailFast())
			require.NoError(t, err)
			assert.True(t, ended)
			assert.Equal(t, time.Minute, time.Since(begin))
			assert.Equal(t, []string{"slow"}, state.Verified())
		})
	})
	t.Run("dag 26: the most telling reason of several is given", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"ok", "waits", "off", "unverified", "failed", "n1", "n2", "n3"}, [2]string{"waits", "off"})
		g.Disable("off")
		for dependent, dependencies := range map[string][]string{
			"n1": {"ok", "waits", "off"},
			"n2": {"waits", "off", "unverified", "ok"},
			"n3": {"waits", "unverified", "failed", "off"},
		} {
			for _, dependency := range dependencies {
				require.NoError(t, g.Depend(dependent, dependency))
			}
		}
		r := &recorder{answers: map[string]error{"failed": errBoom, "unverified": dag.Unverified(nil)}}
		state, err := dag.Run(t.Context(), g, r.visit)
		require.NoError(t, err)
		assert.Equal(t, "waits for off (disabled)", state.Reason("n1"))
		assert.Equal(t, "waits for unverified (unverified)", state.Reason("n2"))
		assert.Equal(t, "waits for failed (failed)", state.Reason("n3"))
		assert.Empty(t, state.Reason("ok"), "it was started")
		assert.Empty(t, state.Reason("failed"))
		assert.Empty(t, state.Reason("unknown"))
	})
}

func TestFailFast(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"inline": 0, "one worker": 1} {
		t.Run("dag 21: nothing starts after the first failure, "+name, func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"d", "a"})
			r := &recorder{answers: map[string]error{"a": dag.Unverified(errBoom), "b": errBoom}}
			state, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(n), dag.FailFast())
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b"}, r.order(), "an unverified node is no failure")
			assert.Equal(t, []string{"c", "d"}, state.Unstarted())
			assert.Equal(t, "stopped after the error of b", state.Reason("c"))
			assert.Equal(t, "waits for a (unverified)", state.Reason("d"))
		})
	}
	t.Run("dag 21: a fatal error of a predicate stops it as well, an expected one doesn't", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			err  error
			want []string
		}{
			{errBoom, []string{"a"}},
			{dag.Expected(errBoom), []string{"a", "c", "d"}},
		} {
			g := graphOf(t, []string{"a", "b", "c", "d"}, [2]string{"c", "a"}, [2]string{"d", "c"})
			require.NoError(t, g.Depend("b", "a", dag.When(func(context.Context) (bool, error) { return false, row.err })))
			r := &recorder{}
			state, err := dag.Run(t.Context(), g, r.visit, dag.Concurrency(0), dag.FailFast())
			require.NoError(t, err)
			assert.Equal(t, row.want, r.order())
			assert.Equal(t, len(row.want) == 1, state.HasFailed())
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	expected := &flagged{"not yet", false}
	fatal := &flagged{"broken", true}
	for _, row := range []struct {
		why      string
		answers  map[string]error // nodes are visited by name
		headline string
	}{
		{"dag 33: an expected error after a fatal one doesn't hide it",
			map[string]error{"a": fatal, "b": dag.Unverified(expected)}, "a"},
		{"dag 33: a fatal error after an expected one is the headline",
			map[string]error{"a": dag.Unverified(expected), "b": fatal}, "b"},
		{"dag 33: the first fatal one of several", map[string]error{"a": dag.Unverified(expected), "b": fatal, "c": errBoom}, "b"},
		{"dag 33: the first expected one when none is fatal",
			map[string]error{"a": dag.Unverified(expected), "b": dag.Unverified(nil)}, "a"},
		{"dag 33: a failed node comes before an unverified one, whatever its error says",
			map[string]error{"a": dag.Unverified(expected), "b": expected}, "b"},
		{"dag 33: a fatal cause of an unverified node counts", map[string]error{"a": dag.Unverified(expected), "b": dag.Unverified(fatal)}, "b"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{"a", "b", "c"})
			state, err := dag.Run(t.Context(), g, (&recorder{answers: row.answers}).visit, dag.Concurrency(0))
			require.NoError(t, err)
			var headline dag.NodeError
			require.ErrorAs(t, state.Headline(), &headline)
			assert.Equal(t, row.headline, headline.Name)
			assert.Len(t, state.Errors(), len(row.answers))
			for name, answer := range row.answers {
				assert.ErrorIs(t, state.JoinedErr(), answer, "both are listed")
				assert.Equal(t, answer, state.Err(name))
			}
		})
	}
	t.Run("dag 20: errors are in the order in which they came up, each with its node", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := graphOf(t, []string{"a", "b", "c"})
			delays := map[string]time.Duration{"a": 3, "b": 1, "c": 2}
			state, err := dag.Run(t.Context(), g, func(_ context.Context, name string, _ string) error {
				time.Sleep(delays[name] * time.Second)
				return &flagged{text: name + " broke", fatal: true}
			}, dag.Concurrency(3))
			require.NoError(t, err)
			var names []string
			for _, e := range state.Errors() {
				names = append(names, e.Name)
			}
			assert.Equal(t, []string{"b", "c", "a"}, names)
			assert.EqualError(t, state.JoinedErr(), "node \"b\": b broke\nnode \"c\": c broke\nnode \"a\": a broke")
			assert.EqualError(t, state.Headline(), `node "b": b broke`)
			var target *flagged
			require.ErrorAs(t, state.JoinedErr(), &target)
			assert.Equal(t, "b broke", target.text)
		})
	})
	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		assert.EqualError(t, dag.Unverified(nil), "unverified")
		assert.EqualError(t, dag.Unverified(errBoom), "boom")
		assert.EqualError(t, dag.Expected(errBoom), "boom")
		require.NoError(t, dag.Expected(nil))
		assert.EqualError(t, dag.NodeError{Name: "a", Err: errBoom}, `node "a": boom`)
		assert.EqualError(t, dag.NodeError{Err: errBoom}, "boom")
		assert.EqualError(t, dag.NodeError{Name: "a"}, `node "a": no error`)
		assert.EqualError(t, &dag.CycleError{}, "cycle: a node would wait for itself")
	})
}
