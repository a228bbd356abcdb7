package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plansOf returns how often an explorer with an atlas has followed each plan of a life, by the number of disturbances.
func plansOf(e *explorer, l life) []map[string]int {
	plans := make([]map[string]int, longestWalk+1)
	for i := range plans {
		plans[i] = map[string]int{}
	}
	for tr := range e.atlas.of {
		if tr.life.name == l.name {
			plans[len(tr.disturbances)][planOf(tr.disturbances).String()]++
		}
	}
	return plans
}

func TestDepth(t *testing.T) {
	e, lives := explorerFor(t, careful, States(900))
	e.atlas = newAtlas() // it notes each execution
	e.agenda = newAgenda()
	e.agenda.lives = lives[:1]
	require.NoError(t, e.work())
	t.Run("explore 25: each disturbance is tried alone, then each one that can follow it", func(t *testing.T) {
		require.Nil(t, e.agenda.next(), "none is left")
		plans, known, first := plansOf(e, lives[0]), e.agenda.learned[0], 0
		for _, c := range e.possible(known.trace, 0) {
			require.Equal(t, 1, plans[1][c.String()], c)
			tr := e.follow(known, []armed{c.arm(known.chapters[c.chapter-1])}, false)
			var want, got []string
			for _, next := range e.following(tr, c) {
				want = append(want, plan{c, next}.String())
			}
			for pair := range plans[2] {
				if strings.HasPrefix(pair, c.String()+",") {
					got = append(got, pair)
				}
			}
			if len(got) > 0 { // else the operator goes on as after another disturbance
				assert.ElementsMatch(t, want, got)
				first++
			}
		}
		assert.Greater(t, first, 3)
	})
	e.atlas = newAtlas()
	e.wander(e.agenda.learned)
	t.Logf("%s", e.report)
	plans := plansOf(e, lives[0])
	t.Run("explore 26: walks have three disturbances or more, and none is followed twice", func(t *testing.T) {
		assert.Greater(t, e.walked, 10)
		count := 0
		for _, walks := range plans[shortestWalk:] {
			for walk, times := range walks {
				assert.Equal(t, 1, times, walk)
				count += times
			}
		}
		assert.Equal(t, e.walked, count)
		assert.NotEmpty(t, plans[shortestWalk+1])
	})
	t.Run("explore 26: the executions before are at hand", func(t *testing.T) {
		again := 0
		for _, times := range plans[1] {
			again += times - 1
		}
		assert.Less(t, again, e.walked, "most walks go on from an earlier one")
	})
}

func TestUnusedWays(t *testing.T) {
	e, lives := explorerFor(t, careful)
	e.agenda = newAgenda()
	e.agenda.lives = lives
	require.NoError(t, e.study())
	known := e.agenda.learned[0]
	pairsAfter := func(c choice) int {
		before := e.agenda.queued
		e.disturb(newTask(known, nil, known.trace, []choice{c}).jobs[0])
		return e.agenda.queued - before
	}
	t.Run("explore 25: no pairs follow when the operator goes on as in an earlier execution", func(t *testing.T) {
		assert.Greater(t, pairsAfter(choice{1, 3, killAfter}), 5)
		assert.Zero(t, pairsAfter(choice{1, 3, lose}), "it goes on as after the kill")
		assert.Zero(t, pairsAfter(choice{1, 1, fail}), "it goes on as without it")
		e.agenda.queued = mostQueued - 3
		assert.Equal(t, 3, pairsAfter(choice{1, 4, lose}), "more are left to the random walks")
	})
}

func TestSeed(t *testing.T) {
	walks := func(seed uint64) string {
		e, lives := explorerFor(t, careful, Seed(seed))
		known, err := e.learn(lives[0])
		require.NoError(t, err)
		e.atlas, e.options.states = newAtlas(), e.visited+60
		e.wander([]*lesson{known})
		var plans []string
		for tr := range e.atlas.of {
			plans = append(plans, planOf(tr.disturbances).String())
		}
		slices.Sort(plans)
		return strings.Join(plans, "\n")
	}
	t.Run("explore 26: walks depend on the seed only", func(t *testing.T) {
		first := walks(1)
		assert.Equal(t, first, walks(1))
		assert.NotEqual(t, first, walks(2))
	})
}
