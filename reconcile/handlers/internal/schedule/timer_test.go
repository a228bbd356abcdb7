package schedule

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValidateTimers(t *testing.T) {
	t.Parallel()
	zero, negative, some := new(time.Duration(0)), new(-time.Second), new(time.Second)
	for _, row := range []struct {
		reason string
		timer  Timer
		faults []string
	}{
		{"handlers 40: nothing is left out", Timer{Interval: some, Sharp: true, Idle: some, InitialDelay: some}, nil},
		{"handlers 40: all is left out", Timer{}, nil},
		{"handlers 40: zero doesn't mean left out", Timer{Interval: zero},
			[]string{`timer "expire": the interval is 0s: set a positive time, or leave it out`}},
		{"handlers 40: sharp needs an interval", Timer{Sharp: true, Idle: some},
			[]string{`timer "expire": a sharp timer has no interval: set one, or let the timer not be sharp`}},
		{"handlers 40: all mistakes at once", Timer{Interval: negative, Idle: zero, InitialDelay: negative}, []string{
			`timer "expire": the interval is -1s: set a positive time, or leave it out`,
			`timer "expire": the idle time is 0s: set a positive time, or leave it out`,
			`timer "expire": the initial delay is -1s: set a positive time, or leave it out`,
		}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			err := row.timer.Validate(`timer "expire"`)
			if row.faults == nil {
				require.NoError(t, err)
				return
			}
			for _, fault := range row.faults {
				assert.ErrorContains(t, err, fault)
			}
		})
	}
}

// What the vectors don't show, or not by itself. They have the usual intervals, idle times and retries.
func TestOnlyWaited(t *testing.T) {
	t.Parallel()
	t.Run("handlers 104: waits are no attempts, however many there are", func(t *testing.T) {
		t.Parallel()
		timer := &Timer{}
		s := timer.Start(State{}, time.Time{}, time.Time{}, second(0))
		for range 1 << 17 {
			var why string
			s, why = Retried(timer, s.OnlyWaited(), progress.Limits{Attempts: 2}, 0, second(0), second(0))
			require.Empty(t, why)
		}
		s, why := Retried(timer, s, progress.Limits{Attempts: 2}, 0, second(0), second(0))
		assert.Empty(t, why)
		_, why = Retried(timer, s, progress.Limits{Attempts: 2}, 0, second(0), second(0))
		assert.Equal(t, "given up after 2 attempts", why)
	})
}

func TestTimers(t *testing.T) {
	t.Parallel()
	ten, idle := new(10*time.Second), new(4*time.Second)
	always := func(s step) []step { return []step{s} }
	for _, row := range []struct {
		reason string
		play   play
		// starts are those of the calls.
		starts []float64
		exited float64
	}{
		{"handlers 41: the interval begins when a call ends", play{rule: &Timer{Interval: ten}, steps: always(step{takes: 3}), until: 40},
			[]float64{0, 13, 26, 39}, -1},
		{"handlers 41: a long call isn't overlapped", play{rule: &Timer{Interval: ten}, steps: always(step{takes: 100}), until: 150},
			[]float64{0, 110}, -1},
		{"handlers 42: sharp skips what a call overruns", play{rule: &Timer{Interval: ten, Sharp: true}, steps: always(step{takes: 25}), until: 100},
			[]float64{0, 30, 60, 90}, -1},
		{"handlers 42: sharp takes the time at the end of the call", play{rule: &Timer{Interval: ten, Sharp: true}, steps: always(step{takes: 20}), until: 60},
			[]float64{0, 20, 40, 60}, -1},
		{"handlers 43: a change puts each call off", play{rule: &Timer{Interval: ten, Idle: idle}, changes: []float64{13, 16}, until: 40},
			[]float64{4, 20, 30, 40}, -1},
		{"handlers 43: a change long before a call doesn't", play{rule: &Timer{Interval: ten, Idle: idle}, changes: []float64{5, 7}, until: 40},
			[]float64{4, 14, 24, 34}, -1},
		{"handlers 43: a change puts an attempt off, too", play{rule: &Timer{Interval: ten, Idle: idle}, steps: []step{{outcome: fails, after: 1}, {}}, changes: []float64{4.5}, until: 10},
			[]float64{4, 8.5}, -1},
		{"handlers 43: the initial delay and the idle time pass together", play{rule: &Timer{Interval: ten, Idle: idle, InitialDelay: new(5 * time.Second)}, changes: []float64{3}, until: 20},
			[]float64{7, 17}, -1},
		{"handlers 44: idle alone waits for the next change", play{rule: &Timer{Idle: idle}, changes: []float64{100, 103, 200}, until: 1000},
			[]float64{4, 107, 204}, -1},
		{"handlers 44: a change during the call is one", play{rule: &Timer{Idle: idle}, steps: always(step{takes: 10}), changes: []float64{5}, until: 100},
			[]float64{4, 14}, -1},
		{"handlers 44: a retry doesn't wait for a change", play{rule: &Timer{Idle: idle}, steps: []step{{outcome: fails, after: 7}, {}}, changes: []float64{50}, until: 100},
			[]float64{4, 11, 54}, -1},
		{"handlers 44: neither is called once", play{rule: &Timer{InitialDelay: ten}, changes: []float64{20}, until: 100}, []float64{10}, 10},
		{"handlers 44: once is after the last retry", play{rule: &Timer{}, steps: []step{{outcome: fails, after: 7}, {takes: 1}}, until: 100}, []float64{0, 7}, 8},
		{"handlers 45: the delay of a retry counts from its end, also if sharp", play{rule: &Timer{Interval: ten, Sharp: true}, steps: []step{{takes: 2, outcome: fails, after: 1}, {}}, until: 25},
			[]float64{0, 3, 13, 23}, -1},
		{"handlers 45: at the last attempt the handler is given up, for the interval",
			play{rule: &Timer{Interval: ten}, limits: progress.Limits{Attempts: 2}, steps: always(step{outcome: fails, after: 1}), until: 25}, []float64{0, 1, 11, 12, 22, 23}, -1},
		{"handlers 45: at the end of the time, too",
			play{rule: &Timer{Interval: ten}, limits: progress.Limits{Within: 5 * time.Second}, steps: always(step{outcome: fails, after: 2}), until: 25}, []float64{0, 2, 4, 14, 16, 18}, -1},
		{"handlers 46: a permanent error stops the timer", play{rule: &Timer{Interval: ten}, steps: []step{{}, {takes: 2, outcome: failsForGood}}, until: 100}, []float64{0, 10}, 12},
		{"handlers 46: no change starts it again", play{rule: &Timer{Idle: idle}, steps: always(step{outcome: failsForGood}), changes: []float64{20}, until: 100}, []float64{4}, 4},
		{"handlers 47: nothing is called while it is suspended", play{rule: &Timer{Interval: ten}, stop: 20, until: 100}, []float64{0, 10}, 20},
		{"handlers 47: a call that runs then ends", play{rule: &Timer{Interval: ten}, steps: always(step{takes: 15}), stop: 5, until: 100}, []float64{0}, 15},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got := row.play.run()
			var starts []float64
			for _, c := range got.calls {
				starts = append(starts, c.at)
			}
			assert.Equal(t, row.starts, starts)
			assert.InDelta(t, row.exited, got.exited, 0)
		})
	}
}

// A timer that goes on after it was suspended.
func TestSuspendedTimers(t *testing.T) {
	t.Parallel()
	timer := &Timer{Interval: new(10 * time.Second), InitialDelay: new(5 * time.Second)}
	start := func(s State, now float64) State {
		return timer.Start(s, time.Time{}, time.Time{}, second(now))
	}
	begun := start(State{}, 0)
	called := timer.Ended(begun, second(5), second(5))
	failing, _ := Retried(timer, begun, progress.Limits{}, 10*time.Second, second(5), second(5))
	for _, row := range []struct {
		reason string
		state  State
		due    float64
	}{
		{"handlers 47: the initial delay isn't repeated", start(begun.Suspend(), 4), 5},
		{"handlers 47: the interval isn't shortened", start(called.Suspend(), 7), 15},
		{"handlers 47: attempts and their delay go on", start(failing.Suspend(), 7), 15},
		{"handlers 47: to start twice changes nothing", start(start(called, 7), 8), 15},
		{"handlers 41: the caller may put the first call off", begun.NotBefore(second(8)), 8},
		{"handlers 41: but not hasten it", begun.NotBefore(second(3)), 5},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			ready, next, ok := Rules{timer}.Due([]State{row.state}, second(0), second(0))
			assert.Empty(t, ready)
			assert.True(t, ok)
			assert.Equal(t, second(row.due), next)
		})
	}
	t.Run("handlers 46: a timer that has stopped isn't started again", func(t *testing.T) {
		t.Parallel()
		stopped := start(timer.Failed(begun, second(5), second(5)).Suspend(), 6)
		assert.True(t, stopped.Stopped())
		ready, _, ok := Rules{timer}.Due([]State{stopped}, second(0), second(100))
		assert.Empty(t, ready)
		assert.False(t, ok)
	})
}

// A cycle has a time; the calls of a pass that comes late are of a new one.
func TestCyclesOfTimers(t *testing.T) {
	t.Parallel()
	timer := &Timer{Interval: new(10 * time.Second)}
	limits := progress.Limits{Within: 6 * time.Second}
	s := timer.Start(State{}, time.Time{}, time.Time{}, second(0)).Begin(limits, second(0))
	assert.Equal(t, progress.Record{Started: second(0)}, s.Progress(second(0)))
	s, why := Retried(timer, s, limits, 4*time.Second, second(0), second(1))
	assert.Empty(t, why)
	t.Run("handlers 45: an attempt belongs to the cycle that began before", func(t *testing.T) {
		t.Parallel()
		soon := s.Begin(limits, second(5))
		assert.Equal(t, progress.Record{Started: second(0), Attempts: 1}, soon.Progress(second(5)))
		deadline, ok := limits.Deadline(soon.Progress(second(5)))
		assert.True(t, ok)
		assert.Equal(t, second(6), deadline)
		next, why := Retried(timer, soon, limits, time.Second, second(5), second(5))
		assert.Equal(t, "given up after 6s", why)
		assert.Zero(t, next.Attempts())
	})
	t.Run("handlers 45: a delay that isn't positive is none", func(t *testing.T) {
		t.Parallel()
		next, _ := Retried(timer, s, progress.Limits{}, -time.Second, second(5), second(6))
		assert.Equal(t, at(second(6)), next.due)
	})
	t.Run("handlers 44: a change at the start of the call is a change after it", func(t *testing.T) {
		t.Parallel()
		idle := &Timer{Idle: new(time.Second)}
		ended := idle.Ended(s, second(5), second(5))
		assert.Equal(t, never, idle.due(ended, at(second(4))))
		assert.Equal(t, at(second(6)), idle.due(ended, at(second(5))))
	})
	t.Run("handlers 45: an attempt that comes too late begins a cycle", func(t *testing.T) {
		t.Parallel()
		late := s.Begin(limits, second(60))
		assert.Equal(t, progress.Record{Started: second(60)}, late.Progress(second(60)))
	})
}

// Times at the ends of what can be held.
func TestFarTimes(t *testing.T) {
	t.Parallel()
	const longest = time.Duration(1<<63 - 1)
	timer := &Timer{Interval: new(longest), Sharp: true, Idle: new(longest)}
	s := timer.Start(State{}, time.Time{}, time.Time{}, second(0))
	ready, _, ok := Rules{timer}.Due([]State{s}, second(0), second(1))
	t.Run("handlers 41: a time that nobody lives to see is never", func(t *testing.T) {
		assert.Empty(t, ready)
		assert.False(t, ok)
		assert.Equal(t, never, timer.Ended(s, second(0), second(1)).due)
		assert.Equal(t, never, at(time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)))
	})
	t.Run("handlers 43: without a change the object is idle", func(t *testing.T) {
		short := &Timer{Idle: new(time.Second)}
		ready, _, _ := Rules{short}.Due([]State{short.Start(State{}, time.Time{}, time.Time{}, second(0))}, time.Time{}, second(0))
		assert.Equal(t, []int{0}, ready)
	})
	t.Run("handlers 41: a clock that goes back during a call", func(t *testing.T) {
		short := &Timer{Interval: new(time.Second)}
		assert.Equal(t, at(second(11)), short.Ended(s, second(10), second(3)).due)
	})
}
