package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDue(t *testing.T) {
	t.Parallel()
	cron, err := NewCron("cron", "0 0 * * *", "")
	require.NoError(t, err)
	rules := Rules{
		&Timer{Interval: new(10 * time.Second)},
		&Timer{Interval: new(10 * time.Second), Idle: new(4 * time.Second)},
		&Timer{Interval: new(10 * time.Second), InitialDelay: new(20 * time.Second)},
		cron,
	}
	started := func() (states []State) {
		for _, rule := range rules {
			states = append(states, rule.Start(State{}, second(0), time.Time{}, second(0)))
		}
		return states
	}
	for _, row := range []struct {
		reason  string
		states  []State
		changed float64
		now     float64
		ready   []int
		next    float64
		ok      bool
	}{
		{"handlers 47: states that weren't started are never due", make([]State, len(rules)), 0, 1e6, nil, 0, false},
		{"handlers 41: one is due, the next one is the first of the others", started(), 0, 0, []int{0}, 4, true},
		{"handlers 41: those who are due, in their order", started(), 0, 20, []int{0, 1, 2}, 86400, true},
		{"handlers 41: a change puts one off", started(), 18, 20, []int{0, 2}, 22, true},
		{"handlers 41: all are due", started(), 0, 86400, []int{0, 1, 2, 3}, 0, false},
		{"handlers 47: one that is suspended isn't due", append([]State{started()[0].Suspend()}, started()[1:]...), 0, 0, nil, 4, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			ready, next, ok := rules.Due(row.states, second(row.changed), second(row.now))
			assert.Equal(t, row.ready, ready)
			assert.Equal(t, row.ok, ok)
			if ok {
				assert.Equal(t, second(row.next), next)
			}
		})
	}
	ready, _, ok := Rules(nil).Due(nil, second(0), second(0))
	assert.Empty(t, ready)
	assert.False(t, ok)
}
