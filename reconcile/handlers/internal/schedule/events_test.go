package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/stretchr/testify/require"
)

// rulesFor returns rules of all sorts.
func rulesFor(t testing.TB) Rules {
	t.Helper()
	five, seven := new(5*time.Second), new(7*time.Second)
	return Rules{
		&Timer{Interval: five}, &Timer{Interval: five, Sharp: true}, &Timer{Interval: five, Idle: seven}, &Timer{Interval: five, Sharp: true, Idle: seven, InitialDelay: seven},
		&Timer{Idle: seven}, &Timer{InitialDelay: seven}, &Timer{}, newCron(t, "* * * * *", ""), newCron(t, "@every 9s", ""),
	}
}

// history is what has happened to one handler of one object, on a clock that goes on.
type history struct {
	rule         Rule
	limits       progress.Limits
	state        State
	now, changed time.Time
	// start and end are those of the last call, and again is the delay with which it failed, 0 if it succeeded.
	start, end time.Time
	again      time.Duration
	calls      int
	// earlier is the last time that was due.
	earlier time.Time
}

// play makes events of bytes, two for each, and requires what holds after any of them.
func (h *history) play(t testing.TB, events []byte) {
	t.Helper()
	h.now, h.changed = origin, origin
	h.state = h.rule.Start(State{}, origin, time.Time{}, origin)
	for i := 0; i+1 < len(events); i += 2 {
		amount := time.Duration(events[i+1]) * 250 * time.Millisecond
		switch events[i] % 8 {
		case 0:
			h.changed = h.now
		case 1:
			h.state = h.state.Suspend()
		case 2:
			h.state = h.rule.Start(h.state, origin, time.Time{}, h.now)
		case 3, 4:
			h.now = h.now.Add(amount)
		default:
			h.ask(t, events[i]%8, amount)
		}
	}
}

// ask goes to the next time that is due, and calls the handler.
func (h *history) ask(t testing.TB, outcome byte, takes time.Duration) {
	t.Helper()
	rules := Rules{h.rule}
	ready, next, ok := rules.Due([]State{h.state}, h.changed, h.now)
	if ok {
		require.Empty(t, ready)
		require.True(t, next.After(h.now), "the next time isn't past")
		h.now = next
		ready, _, _ = rules.Due([]State{h.state}, h.changed, h.now)
		require.Equal(t, []int{0}, ready, "it is due when it was to be")
	}
	if len(ready) == 0 {
		return
	}
	h.requireAllowed(t)
	h.start, h.calls = h.now, h.calls+1
	s := h.state.Begin(h.limits, h.start)
	h.now = h.now.Add(takes)
	h.end, h.again = h.now, 0
	switch {
	case outcome == 5:
		s = h.rule.Ended(s, h.start, h.end)
	case takes == 63*time.Second: // rarely
		s = h.rule.Failed(s, h.start, h.end)
	default:
		var why string
		delay := takes / 4
		if s, why = Retried(h.rule, s, h.limits, delay, h.start, h.end); why == "" {
			h.again = max(delay, 1)
		}
	}
	h.state = s
	require.LessOrEqual(t, h.state.Attempts(), h.limits.Attempts)
}

// requireAllowed requires that a call may be made now.
func (h *history) requireAllowed(t testing.TB) {
	t.Helper()
	require.False(t, h.state.Stopped() || h.state.has(suspended))
	due := h.rule.due(h.state, at(h.changed)).time()
	require.True(t, h.calls == 0 || due.After(h.earlier) || h.again == 1, "no time is due twice, and times don't go back")
	h.earlier = due
	timer, isTimer := h.rule.(*Timer)
	if !isTimer {
		if h.calls > 0 && h.again == 0 {
			require.True(t, due.After(h.start), "one call for all moments before")
		}
		return
	}
	if timer.Idle != nil {
		require.GreaterOrEqual(t, h.now.Sub(h.changed), *timer.Idle)
	}
	switch {
	case h.calls == 0:
		return
	case h.again > 0:
		require.GreaterOrEqual(t, h.now.Sub(h.end), h.again-1)
	case timer.Interval == nil:
		require.True(t, timer.Idle != nil && !h.changed.Before(h.start), "only after a change")
	case timer.Sharp:
		require.GreaterOrEqual(t, h.now.Sub(h.start), *timer.Interval)
		if timer.Idle == nil {
			require.Zero(t, due.Sub(h.start)%*timer.Interval, "on the grid")
		}
	default:
		require.GreaterOrEqual(t, h.now.Sub(h.end), *timer.Interval)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	t.Run("handlers 41: no events make calls that come too early, too often, or twice", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(36, 9))
		for range 300 {
			for _, rule := range rulesFor(t) {
				events := make([]byte, 60)
				for i := range events {
					events[i] = byte(random.Uint32())
				}
				h := history{rule: rule, limits: progress.Limits{Attempts: 3, Within: time.Minute}}
				h.play(t, events)
			}
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add(uint8(0), []byte{5, 0, 5, 9, 6, 3, 5, 0})
	f.Add(uint8(2), []byte{5, 0, 0, 0, 3, 9, 5, 0, 7, 252})
	f.Add(uint8(4), []byte{5, 0, 0, 0, 5, 0, 1, 0, 2, 0})
	f.Add(uint8(7), []byte{3, 255, 3, 255, 5, 255, 5, 0})
	f.Fuzz(func(t *testing.T, which uint8, events []byte) {
		rules := rulesFor(t)
		h := history{rule: rules[int(which)%len(rules)], limits: progress.Limits{Attempts: 3, Within: time.Minute}}
		h.play(t, events)
	})
}
