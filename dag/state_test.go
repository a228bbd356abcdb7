package dag_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func mustState(t *testing.T, o dag.Outcomes) dag.State {
	t.Helper()
	state, err := dag.NewState(o)
	require.NoError(t, err)
	return state
}

func TestNewState(t *testing.T) {
	t.Parallel()
	sets := []string{"verified", "unverified", "failed", "unstarted"}
	fill := func(i int, o *dag.Outcomes, name string) {
		set := []*[]string{&o.Verified, &o.Unverified, &o.Failed, &o.Unstarted}[i]
		*set = append(*set, name)
	}
	for i := range sets {
		for j := i + 1; j < len(sets); j++ {
			t.Run(fmt.Sprintf("dag 29: both %s and %s", sets[i], sets[j]), func(t *testing.T) {
				t.Parallel()
				var o dag.Outcomes
				fill(i, &o, "a")
				fill(i, &o, "b")
				fill(j, &o, "b")
				state, err := dag.NewState(o)
				require.ErrorIs(t, err, dag.ErrOverlap)
				require.EqualError(t, err, fmt.Sprintf(`node "b": both %s and %s: a node has exactly one outcome: list it in one set`, sets[i], sets[j]))
				assert.Equal(t, dag.State{}, state)
			})
		}
		t.Run("dag 29: a name that is none, "+sets[i], func(t *testing.T) {
			t.Parallel()
			var o dag.Outcomes
			fill(i, &o, "")
			_, err := dag.NewState(o)
			require.ErrorIs(t, err, dag.ErrInvalidNode)
			require.EqualError(t, err, "state: "+sets[i]+": a node needs a name")
		})
	}
	t.Run("dag 29: a name twice in one set counts once; all is the union, by name", func(t *testing.T) {
		t.Parallel()
		o := dag.Outcomes{
			Verified: []string{"z", "b", "z"}, Unverified: []string{"y"}, Failed: []string{"x"}, Unstarted: []string{"w", "a"},
			Errors:  []dag.NodeError{{Name: "x", Err: errBoom}, {Name: "y"}, {Err: errBoom}, {Name: "x", Err: errors.ErrUnsupported}},
			Reasons: map[string]string{"a": "no time", "z": "it was started", "unknown": "not there"},
		}
		state := mustState(t, o)
		o.Verified[0], o.Reasons["a"], o.Errors[0].Name = "changed", "changed", "changed"
		assert.Equal(t, []string{"b", "z"}, state.Verified())
		assert.Equal(t, []string{"a", "w"}, state.Unstarted())
		assert.Equal(t, []string{"a", "b", "w", "x", "y", "z"}, state.All())
		assert.Equal(t, "no time", state.Reason("a"))
		for _, name := range []string{"w", "z", "unknown"} {
			assert.Empty(t, state.Reason(name), name)
		}
		assert.Equal(t, errBoom, state.Err("x"), "the first of several")
		assert.NoError(t, state.Err("y"))
		assert.Len(t, state.Errors(), 3, "that without an error is left out")
	})
	t.Run("what a state returns belongs to the caller", func(t *testing.T) {
		t.Parallel()
		state := mustState(t, dag.Outcomes{Verified: []string{"a"}, Errors: []dag.NodeError{{Name: "a", Err: errBoom}}})
		state.Verified()[0] = "changed"
		state.All()[0] = "changed"
		state.Errors()[0].Name = "changed"
		assert.Equal(t, []string{"a"}, state.Verified())
		assert.Equal(t, []string{"a"}, state.All())
		assert.Equal(t, "a", state.Errors()[0].Name)
	})
}

// TestStatePredicates is the table of all combinations of empty and filled sets with no, an
// expected, a fatal and a plain error.
func TestStatePredicates(t *testing.T) {
	t.Parallel()
	for bits := range 16 {
		var o dag.Outcomes
		var has [4]bool
		for i, set := range []*[]string{&o.Verified, &o.Unverified, &o.Failed, &o.Unstarted} {
			if has[i] = bits&(1<<i) != 0; has[i] {
				*set = []string{fmt.Sprint("n", i)}
			}
		}
		unverified, failed, unstarted := has[1], has[2], has[3]
		for what, err := range map[string]error{
			"no": nil, "expected": &flagged{"not yet", false}, "fatal": &flagged{"broken", true}, "plain": errBoom,
			"wrapped expected": fmt.Errorf("deploy: %w", &flagged{"not yet", false}),
		} {
			o.Errors = nil
			if err != nil {
				o.Errors = []dag.NodeError{{Err: err}}
			}
			state := mustState(t, o)
			name := fmt.Sprintf("%s, %s error", state, what)
			assert.Equal(t, !failed && !unstarted, state.DeployCompleted(), "dag 31: "+name)
			assert.Equal(t, !failed && !unstarted && !unverified && err == nil, state.VerifyCompleted(), "dag 32: "+name)
			assert.Equal(t, failed || what == "fatal" || what == "plain", state.HasFailed(), "dag 33: "+name)
		}
	}
	t.Run("dag 31: completed without nodes, and with unverified ones", func(t *testing.T) {
		t.Parallel()
		assert.True(t, dag.State{}.DeployCompleted())
		assert.True(t, mustState(t, dag.Outcomes{Unverified: []string{"a"}}).DeployCompleted())
	})
	t.Run("dag 32: not completed with an error, even one of no node", func(t *testing.T) {
		t.Parallel()
		assert.True(t, dag.State{}.VerifyCompleted())
		assert.False(t, mustState(t, dag.Outcomes{Errors: []dag.NodeError{{Err: dag.Expected(errBoom)}}}).VerifyCompleted())
	})
	t.Run("dag 33: an error decides by its own word", func(t *testing.T) {
		t.Parallel()
		assert.False(t, dag.State{}.HasFailed())
		assert.False(t, mustState(t, dag.Outcomes{Errors: []dag.NodeError{{Err: &flagged{fatal: false}}}}).HasFailed())
		assert.True(t, mustState(t, dag.Outcomes{Errors: []dag.NodeError{{Err: &flagged{fatal: true}}}}).HasFailed())
		assert.True(t, mustState(t, dag.Outcomes{Errors: []dag.NodeError{{Err: dag.Expected(errBoom)}, {Err: errBoom}}}).HasFailed(), "any of them")
	})
	t.Run("dag 33: an expected error joined with another one doesn't hide it", func(t *testing.T) {
		t.Parallel()
		expected := dag.Expected(errors.New("soon"))
		for why, row := range map[string]struct {
			err  error
			want bool
		}{
			"expected first":            {errors.Join(expected, errBoom), true},
			"expected last":             {errors.Join(errBoom, expected), true},
			"all expected":              {errors.Join(expected, expected), false},
			"unverified without cause":  {errors.Join(dag.Unverified(nil), dag.Unverified(nil)), false},
			"unverified, boom last":     {errors.Join(dag.Unverified(nil), dag.Unverified(errBoom)), true},
			"unverified, boom first":    {errors.Join(dag.Unverified(errBoom), dag.Unverified(nil)), true},
			"joined inside unverified":  {dag.Unverified(errors.Join(expected, errBoom)), true},
			"its own word for all":      {dag.Expected(errors.Join(expected, errBoom)), false},
			"wrapped with text":         {fmt.Errorf("all: %w", errors.Join(expected, errBoom)), true},
			"wrapped with text, no bad": {fmt.Errorf("all: %w", errors.Join(expected, expected)), false},
		} {
			assert.Equal(t, row.want, mustState(t, dag.Outcomes{Errors: []dag.NodeError{{Err: row.err}}}).HasFailed(), why)
		}
	})
}

func TestStateEqual(t *testing.T) {
	t.Parallel()
	full := dag.Outcomes{Verified: []string{"a"}, Unverified: []string{"b"}, Failed: []string{"c"}, Unstarted: []string{"d"}}
	withErrors := full
	withErrors.Errors = []dag.NodeError{{Name: "c", Err: errBoom}}
	withErrors.Reasons = map[string]string{"d": "no time"}
	for _, row := range []struct {
		why  string
		a, b dag.Outcomes
		want bool
	}{
		{"dag 30: the same sets", full, full, true},
		{"dag 30: errors and reasons don't count", full, withErrors, true},
		{"dag 30: order doesn't count", dag.Outcomes{Failed: []string{"a", "b"}}, dag.Outcomes{Failed: []string{"b", "a"}}, true},
		{"dag 30: none", dag.Outcomes{}, dag.Outcomes{Errors: withErrors.Errors}, true},
		{"dag 30: another name", dag.Outcomes{Verified: []string{"a"}}, dag.Outcomes{Verified: []string{"b"}}, false},
		{"dag 30: another set", dag.Outcomes{Verified: []string{"a"}}, dag.Outcomes{Unverified: []string{"a"}}, false},
		{"dag 30: failed is not unstarted", dag.Outcomes{Failed: []string{"a"}}, dag.Outcomes{Unstarted: []string{"a"}}, false},
		{"dag 30: one more", full, dag.Outcomes{Verified: []string{"a", "e"}, Unverified: []string{"b"}, Failed: []string{"c"}, Unstarted: []string{"d"}}, false},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			a, b := mustState(t, row.a), mustState(t, row.b)
			assert.Equal(t, row.want, a.Equal(b))
			assert.Equal(t, row.want, b.Equal(a))
			assert.True(t, a.Equal(a))
		})
	}
	t.Run("dag 30: the state of a run and a made one", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"d", "c", "b", "a"}, [2]string{"d", "c"})
		r := &recorder{answers: map[string]error{"c": errBoom, "b": dag.Unverified(nil)}}
		state, err := dag.Run(t.Context(), g, r.visit)
		require.NoError(t, err)
		assert.True(t, state.Equal(mustState(t, full)))
		assert.True(t, dag.State{}.Equal(mustState(t, dag.Outcomes{})))
		assert.False(t, state.Equal(dag.State{}))
	})
}

func TestStateString(t *testing.T) {
	t.Parallel()
	t.Run("dag 34: four lines with sorted names, then the error", func(t *testing.T) {
		t.Parallel()
		state := mustState(t, dag.Outcomes{
			Verified: []string{"b", "a"}, Failed: []string{"c"}, Unstarted: []string{"d"},
			Errors: []dag.NodeError{{Name: "c", Err: errBoom}, {Err: errors.New("hook")}},
		})
		assert.Equal(t, "Verified: [a, b]\nUnverified: []\nFailed: [c]\nUnstarted: [d]\nError: node \"c\": boom; hook", state.String())
	})
	t.Run("dag 34: without nodes and errors", func(t *testing.T) {
		t.Parallel()
		want := "Verified: []\nUnverified: []\nFailed: []\nUnstarted: []\nError: none"
		assert.Equal(t, want, dag.State{}.String())
		assert.Equal(t, want, mustState(t, dag.Outcomes{}).String())
	})
}

func TestZeroState(t *testing.T) {
	t.Parallel()
	var state dag.State
	for _, set := range [][]string{state.Verified(), state.Unverified(), state.Failed(), state.Unstarted(), state.All()} {
		assert.Empty(t, set)
	}
	assert.Empty(t, state.Errors())
	assert.NoError(t, state.Err("a"))
	assert.NoError(t, state.JoinedErr())
	assert.NoError(t, state.Headline())
	assert.Empty(t, state.Reason("a"))
}
