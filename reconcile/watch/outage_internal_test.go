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
			{after: logAgain, said: true, unsaid: 2},
			{after: logAgain, said: true},
		},
		"its end is said once": {
			{said: true},
			{after: probeEvery, succeeds: true, said: true},
			{succeeds: true},
		},
		"after its end the next one is another": {
			{said: true}, {after: probeEvery},
			{succeeds: true, said: true},
			{after: time.Second, said: true, unsaid: 0},
		},
		"a long one ends, too": {
			{said: true},
			{after: 4 * logAgain, said: true},
			{after: 4 * logAgain, succeeds: true, said: true},
		},
		"what succeeds long after a failure that nothing followed isn't the end of an outage": {
			{said: true},
			{after: 5 * logAgain, succeeds: true},
			{after: time.Second, said: true},
		},
		"one that ends by and by": {
			{said: true}, {after: probeEvery, succeeds: true, said: true},
			{after: probeEvery, said: true}, {succeeds: true, said: true},
			{after: 2 * probeEvery, said: true}, {succeeds: true},
		},
		"there is none to end": {{succeeds: true}},
		"what fails now and then isn't one": {
			{said: true}, {after: probeEvery / 2}, {after: probeEvery/2 - 1, succeeds: true},
			{}, {after: probeEvery - 1, succeeds: true},
			{after: logAgain, said: true, unsaid: 2},
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

func TestOutageHasAProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, c := deploy.Ref{Name: "a"}, deploy.Ref{Name: "b"}, deploy.Ref{Name: "c"}
		var o outage
		isProbe := func(key deploy.Ref) bool { _, _, probe := o.fails(key, false); return probe }
		assert.True(t, isProbe(a), "the first")
		assert.False(t, isProbe(b), "one is enough")
		time.Sleep(probeEvery)
		assert.True(t, isProbe(a), "the same")
		time.Sleep(probeEvery)
		assert.False(t, isProbe(c))
		time.Sleep(2 * probeEvery)
		assert.True(t, isProbe(b), "one that isn't heard of any more has a successor, though others are")
		o.forget(b)
		assert.True(t, isProbe(c), "so has one that is gone")
		_, _, probe := o.fails(deploy.Ref{Name: "told when to come again"}, true)
		assert.False(t, probe)
		over, waiting := o.succeeds(c)
		assert.True(t, over)
		assert.Equal(t, []deploy.Ref{a}, waiting, "those that failed, but for the one that is gone")
		assert.Empty(t, o.waiting)
		over, waiting = o.succeeds(a)
		assert.False(t, over)
		assert.Empty(t, waiting)
	})
}
