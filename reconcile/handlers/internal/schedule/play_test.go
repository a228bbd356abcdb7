package schedule

import (
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
)

var origin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// second returns a time of the simulated clock.
func second(s float64) time.Time { return origin.Add(time.Duration(s * float64(time.Second))) }

func seconds(t time.Time) float64 { return t.Sub(origin).Seconds() }

// outcome is how a call ends.
type outcome int

const (
	succeeds outcome = iota
	fails
	failsForGood
)

// step is what a call does.
type step struct {
	takes   float64
	outcome outcome
	// after is the time to the next attempt.
	after float64
}

// play calls a handler for one object on a simulated clock.
type play struct {
	rule    Rule
	limits  progress.Limits
	steps   []step    // the last one repeats; none succeed at once
	changes []float64 // of the essence; to see the object at 0 is one
	stop    float64   // when the object is suspended, 0 for never
	until   float64
}

type call struct {
	at, end  float64
	attempts int
}

// result is what has happened until the end of the play.
type result struct {
	calls []call
	// exited is the time from which nothing can happen any more, -1 if something can.
	exited float64
	state  State
}

func (p play) run() (r result) {
	now, changed := 0.0, 0.0
	r.exited = -1
	r.state = p.rule.Start(State{}, origin, time.Time{}, origin)
	changes := slices.Sorted(slices.Values(p.changes))
	change := func(until float64) {
		for len(changes) > 0 && changes[0] <= until {
			changed, changes = changes[0], changes[1:]
		}
	}
	for now <= p.until {
		change(now)
		if p.stop > 0 && now >= p.stop {
			r.state = r.state.Suspend()
			if r.exited < 0 {
				r.exited = now
			}
		}
		ready, next, ok := Rules{p.rule}.Due([]State{r.state}, second(changed), second(now))
		if len(ready) > 0 {
			now = p.call(&r, now)
			change(now)
			if r.state.Stopped() {
				r.exited = now
			}
			continue
		}
		if r.exited >= 0 {
			break
		}
		now = p.until + 1
		if ok {
			now = min(now, seconds(next))
		}
		if len(changes) > 0 {
			now = min(now, changes[0])
		}
		if p.stop > 0 {
			now = min(now, p.stop)
		}
	}
	if r.exited > p.until {
		r.exited = -1
	}
	return r
}

// call calls the handler, and returns the end of the call.
func (p play) call(r *result, now float64) float64 {
	do := step{}
	if len(p.steps) > 0 {
		do = p.steps[min(len(r.calls), len(p.steps)-1)]
	}
	start, end := second(now), second(now+do.takes)
	s := r.state.Begin(p.limits, start)
	r.calls = append(r.calls, call{at: now, end: now + do.takes, attempts: s.Attempts()})
	switch do.outcome {
	case succeeds:
		s = p.rule.Ended(s, start, end)
	case failsForGood:
		s = p.rule.Failed(s, start, end)
	case fails:
		s, _ = Retried(p.rule, s, p.limits, time.Duration(do.after*float64(time.Second)), start, end)
	}
	r.state = s
	return now + do.takes
}
