package traps

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrapsAreAskedOnce(t *testing.T) {
	t.Parallel()
	names, owners := map[string]bool{}, map[string]int{}
	for _, trap := range all {
		assert.False(t, names[trap.name], "%s is there twice", trap.name)
		names[trap.name] = true
		assert.Positive(t, trap.asked, "%s is never asked", trap.name)
		assert.LessOrEqual(t, trap.asked, len(releases), "%s is never asked", trap.name)
		assert.Less(t, trap.made, trap.asked, "%s is asked before there is its Bundle", trap.name)
		if made, there := owners[trap.bundle]; there {
			assert.True(t, made == trap.made && made > 0, "%s: a Bundle of several traps has to be made before, once", trap.name)
		}
		owners[trap.bundle] = trap.made
	}
	assert.Equal(t, 12, Count())
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	broken := errors.New("no API server")
	for reason, row := range map[string]struct {
		got   answer
		err   error
		want  answer
		fails error
	}{
		"an answer":                          {answer{true, "seen"}, nil, answer{true, "seen"}, nil},
		"who doesn't get there is answered":  {answer{true, "early"}, &stuckError{"after 1s"}, answer{false, "after 1s"}, nil},
		"also when something else failed":    {answer{}, errors.Join(&stuckError{"stuck"}, broken), answer{false, "stuck"}, nil},
		"a trap that isn't set is no answer": {answer{true, "early"}, broken, answer{}, broken},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			asked := trap{name: "n", ask: func(context.Context, *scene) (answer, error) { return row.got, row.err }}
			got, err := asked.answered(t.Context(), nil)
			require.ErrorIs(t, err, row.fails)
			assert.Equal(t, row.want, got)
		})
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	broken := errors.New("no API server")
	left := 2
	later := func(context.Context) (bool, error) { left--; return left == 0, nil }
	what := func() string { return "it isn't so" }
	require.NoError(t, await(t.Context(), time.Minute, later, what), "it comes to be so")
	require.ErrorIs(t, await(t.Context(), time.Minute, func(context.Context) (bool, error) { return false, broken }, what), broken)

	never := func(context.Context) (bool, error) { return false, nil }
	var stuck *stuckError
	require.ErrorAs(t, await(t.Context(), time.Millisecond, never, what), &stuck)
	assert.Equal(t, "after 1ms it isn't so", stuck.what)

	ended, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	err := await(ended, time.Minute, never, what)
	require.ErrorIs(t, err, broken, "the end of the run is no answer")
	require.NotErrorAs(t, err, &stuck)
}
