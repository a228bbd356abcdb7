package watch

import (
	"testing"
	"testing/synctest"
	"time"

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
			{after: time.Second, succeeds: true, said: true},
			{succeeds: true},
		},
		"after its end the next one is another": {
			{said: true}, {after: time.Second},
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
		"there is none to end": {{succeeds: true}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var o outage
				for i, step := range steps {
					time.Sleep(step.after)
					if step.succeeds {
						assert.Equal(t, step.said, o.succeeds(), "step %d", i)
						continue
					}
					said, unsaid := o.fails()
					assert.Equal(t, step.said, said, "step %d", i)
					assert.Equal(t, step.unsaid, unsaid, "step %d", i)
				}
			})
		})
	}
}
