package schedule

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is an operator with a timer and a cron, which handles one object as the package says.
type process struct {
	rules   Rules
	states  []State
	changed time.Time
	// annotation is on the object, and writes counts how often it was written.
	annotation string
	writes     int
	called     []int
}

func (p *process) restart(now time.Time) {
	p.states, p.changed = make([]State, len(p.rules)), now
}

// pass handles the object, and returns when it is to be handled next. With dies, the process ends before the write.
func (p *process) pass(t *testing.T, now time.Time, dies bool) time.Time {
	t.Helper()
	kept, err := record.Of(p.annotation, "u")
	require.NoError(t, err)
	for i, rule := range p.rules {
		p.states[i] = rule.Start(p.states[i], origin, kept.Crons["nightly"], now)
	}
	ready, _, _ := p.rules.Due(p.states, p.changed, now)
	for _, i := range ready {
		s := p.states[i].Begin(progress.Limits{}, now)
		p.called = append(p.called, i)
		p.states[i] = p.rules[i].Ended(s, now, now)
	}
	if called, ok := p.states[1].Called(); ok && !called.Truncate(time.Second).Equal(kept.Crons["nightly"]) && !dies {
		kept.UID, kept.Crons = "u", map[string]time.Time{"nightly": called.Truncate(time.Second)}
		p.annotation, err = kept.Text(0)
		require.NoError(t, err)
		p.writes++
	}
	ready, next, ok := p.rules.Due(p.states, p.changed, now)
	assert.Empty(t, ready)
	assert.True(t, ok)
	return next
}

// Two days with restarts: a cron costs one write for each call, and a timer none.
func TestRestarts(t *testing.T) {
	t.Parallel()
	day := func(d float64) time.Time { return second(d * 86400) }
	const timer, cron = 0, 1
	start := func(t *testing.T) *process {
		p := &process{rules: Rules{&Timer{Interval: new(12 * time.Hour)}, newCron(t, "0 3 * * *", "")}}
		p.restart(day(0))
		assert.Equal(t, day(0.125), p.pass(t, day(0), false))
		assert.Equal(t, day(0.5), p.pass(t, day(0.125), false))
		require.Equal(t, []int{timer, cron}, p.called)
		return p
	}
	t.Run("handlers 49: a call is stored once, and isn't repeated by a restart", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		p.restart(day(0.25))
		assert.Equal(t, day(0.75), p.pass(t, day(0.25), false))
		assert.Equal(t, []int{timer, cron, timer}, p.called)
		assert.Equal(t, 1, p.writes)
	})
	t.Run("handlers 49: moments that pass while nothing runs are one call", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		p.restart(day(9))
		assert.Equal(t, day(9.125), p.pass(t, day(9), false))
		assert.Equal(t, []int{timer, cron, timer, cron}, p.called)
		assert.Equal(t, 2, p.writes)
	})
	t.Run("handlers 49: a crash before the write repeats the call", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		p.pass(t, day(1.125), true)
		p.restart(day(1.25))
		p.pass(t, day(1.25), false)
		assert.Equal(t, []int{timer, cron, timer, cron, timer, cron}, p.called)
		assert.Equal(t, 2, p.writes)
	})
	t.Run("handlers 49: the call of another process isn't repeated after leadership returns", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		other := &process{rules: p.rules, annotation: p.annotation}
		other.restart(day(1))
		other.pass(t, day(1.125), false)
		p.annotation = other.annotation
		p.pass(t, day(1.2), false)
		assert.Equal(t, []int{timer, cron, timer}, p.called)
	})
}
