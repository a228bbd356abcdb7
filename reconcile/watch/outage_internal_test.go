package watch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
)

func TestOutage(t *testing.T) {
	t.Parallel()
	type step struct {
		after    time.Duration
		succeeds bool
		said     bool
		unsaid   int
	}
	for reason, steps := range map[string][]step{
		"the first failure is said, others are counted": {
			{said: true},
			{after: time.Second}, {after: time.Second},
			{after: sayAgain, said: true, unsaid: 2},
			{after: sayAgain, said: true},
		},
		"its end is said once": {
			{said: true},
			{after: scouting, succeeds: true, said: true},
			{succeeds: true},
		},
		"after its end the next one is another": {
			{said: true}, {after: scouting},
			{succeeds: true, said: true},
			{after: time.Second, said: true, unsaid: 0},
		},
		"a long one ends, too": {
			{said: true},
			{after: 4 * sayAgain, said: true},
			{after: 4 * sayAgain, succeeds: true, said: true},
		},
		"what succeeds long after a failure that nothing followed isn't the end of an outage": {
			{said: true},
			{after: 5 * sayAgain, succeeds: true},
			{after: time.Second, said: true},
		},
		"one that ends by and by": {
			{said: true}, {after: scouting, succeeds: true, said: true},
			{after: scouting, said: true}, {succeeds: true, said: true},
			{after: 2 * scouting, said: true}, {succeeds: true},
		},
		"there is none to end": {{succeeds: true}},
		"what fails now and then isn't one": {
			{said: true}, {after: scouting / 2}, {after: scouting/2 - 1, succeeds: true},
			{}, {after: scouting - 1, succeeds: true},
			{after: sayAgain, said: true, unsaid: 2},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var o outage
				key := deploy.Ref{Name: "shop"}
				for i, step := range steps {
					time.Sleep(step.after)
					if step.succeeds {
						over, _ := o.succeeds(key)
						assert.Equal(t, step.said, over, "step %d", i)
						continue
					}
					said, unsaid, _ := o.fails(key, false)
					assert.Equal(t, step.said, said, "step %d", i)
					assert.Equal(t, step.unsaid, unsaid, "step %d", i)
				}
			})
		})
	}
}

func TestOutageHasAScout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, c := deploy.Ref{Name: "a"}, deploy.Ref{Name: "b"}, deploy.Ref{Name: "c"}
		var o outage
		isScout := func(key deploy.Ref) bool { _, _, scout := o.fails(key, false); return scout }
		assert.True(t, isScout(a), "the first")
		assert.False(t, isScout(b), "one is enough")
		time.Sleep(scouting)
		assert.True(t, isScout(a), "the same")
		time.Sleep(scouting)
		assert.False(t, isScout(c))
		time.Sleep(2 * scouting)
		assert.True(t, isScout(b), "one that isn't heard of any more has a successor, though others are")
		o.forget(b)
		assert.True(t, isScout(c), "so has one that is gone")
		_, _, scout := o.fails(deploy.Ref{Name: "told when to come again"}, true)
		assert.False(t, scout)
		over, waiting := o.succeeds(c)
		assert.True(t, over)
		assert.Equal(t, []deploy.Ref{a}, waiting, "those that failed, but for the one that is gone")
		assert.Empty(t, o.waiting)
		over, waiting = o.succeeds(a)
		assert.False(t, over)
		assert.Empty(t, waiting)
	})
}
