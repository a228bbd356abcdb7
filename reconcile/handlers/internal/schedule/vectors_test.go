package schedule

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/essence"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
)

func TestVectors(t *testing.T) {
	vectortest.Run(t, "kopf-timers", func(t *testing.T, c *vectortest.Case) {
		p := playOf(c.Input)
		got := p.run()
		output, _ := c.Output.(map[string]any)
		want := recordedCalls(output)
		switch c.Rule {
		case "":
		case "sharp-tick-at-end":
			c.Deviates("handlers 42: a time at the end of a call isn't skipped")
			want = sharpCalls(p, interval(p))
		case "idle-by-essence-in-memory":
			c.Deviates("handlers 43: only changes of the essence count")
			want = nil
			assertIdle(t, p, got)
		case "timer-limits":
			c.Deviates("handlers 45: the limits are those of one cycle; that is what kopf does, and doesn't say")
		case "permanent-stops-timer":
			output = c.Want(t).(map[string]any)
			c.Deviates("handlers 46: a timer that has failed for good isn't called any more")
			want = recordedCalls(output)
		case "idle-timer-stops":
			output = c.Want(t).(map[string]any)
			c.Deviates("handlers 47: an object that goes ends the wait for a change")
		default:
			t.Fatalf("the test has to say what holds by the rule %s", c.Rule)
		}
		if want != nil {
			assert.Equal(t, want, shownCalls(got.calls, p.until))
		}
		if running, ok := output["running"].(bool); ok {
			assert.Equal(t, running, got.exited < 0)
			return
		}
		assert.InDelta(t, number(output["exited"], -1), got.exited, 1e-6, "when it ended")
	})
}

// recorded is a call as the vectors have it; end is -1 if it hadn't ended.
type recorded struct{ at, end, retry float64 }

func recordedCalls(output map[string]any) []recorded {
	calls := []recorded{}
	for _, one := range list(output["calls"]) {
		c := one.(map[string]any)
		calls = append(calls, recorded{at: number(c["at"], 0), end: number(c["end"], -1), retry: number(c["retry"], 0)})
	}
	return calls
}

func shownCalls(calls []call, until float64) []recorded {
	shown := []recorded{}
	for _, c := range calls {
		if c.end > until {
			c.end = -1
		}
		shown = append(shown, recorded{at: c.at, end: c.end, retry: float64(c.attempts)})
	}
	return shown
}

// sharpCalls are the calls of a sharp timer that always succeeds.
func sharpCalls(p play, interval float64) []recorded {
	var calls []call
	for at := 0.0; at <= p.until; {
		end := at + p.steps[min(len(calls), len(p.steps)-1)].takes
		calls = append(calls, call{at: at, end: end})
		for at += interval; at < end; {
			at += interval
		}
	}
	return shownCalls(calls, p.until)
}

// assertIdle asserts that the first call comes as soon as the object was idle, and none earlier than that.
func assertIdle(t *testing.T, p play, got result) {
	t.Helper()
	idle := p.rule.(*Timer).Idle.Seconds()
	for i, c := range got.calls {
		last := 0.0
		for _, change := range p.changes {
			if change <= c.at {
				last = change
			}
		}
		assert.GreaterOrEqual(t, c.at, last+idle)
		if i == 0 {
			assert.InDelta(t, last+idle, c.at, 0)
		}
	}
	assert.NotEmpty(t, got.calls)
}

func interval(p play) float64 { return p.rule.(*Timer).Interval.Seconds() }

// usually is the time after which kopf calls a handler again that doesn't say when, in seconds.
const usually = 60

func playOf(input map[string]any) play {
	timer, _ := input["timer"].(map[string]any)
	sharp, _ := timer["sharp"].(bool)
	p := play{
		rule: &Timer{
			Interval: duration(timer["interval"]), Sharp: sharp,
			Idle: duration(timer["idle"]), InitialDelay: duration(timer["initial_delay"]),
		},
		limits: progress.Limits{Attempts: int(number(timer["retries"], 0))},
		stop:   number(input["stop"], 0),
		until:  number(input["until"], 0),
	}
	if within := duration(timer["timeout"]); within != nil {
		p.limits.Within = *within
	}
	for _, one := range list(input["calls"]) {
		p.steps = append(p.steps, stepOf(one.(map[string]any), timer))
	}
	for _, change := range list(input["changes"]) {
		p.changes = append(p.changes, number(change, 0))
	}
	p.hear(list(input["events"]))
	return p
}

func stepOf(do, timer map[string]any) step {
	s := step{takes: number(do["takes"], 0)}
	switch {
	case do["permanent"] != nil:
		s.outcome = failsForGood
	case do["temporary"] != nil:
		s.outcome, s.after = fails, number(do["delay"], usually)
	case do["error"] == nil || timer["errors"] == "ignored":
	case timer["errors"] == "permanent":
		s.outcome = failsForGood
	default:
		s.outcome, s.after = fails, number(timer["backoff"], usually)
	}
	return s
}

// hear adds the changes and the stop that events mean.
func (p *play) hear(events []any) {
	var last any
	for i, one := range events {
		event := one.(map[string]any)
		at, body := number(event["at"], 0), event["body"].(map[string]any)
		seen := any(essence.Rules{}.Of(body))
		if i > 0 && !diff.Equal(last, seen) {
			p.changes = append(p.changes, at)
		}
		last = seen
		metadata, _ := body["metadata"].(map[string]any)
		if metadata["deletionTimestamp"] != nil && p.stop == 0 {
			p.stop = at
		}
	}
}

// duration returns a time in seconds. kopf takes 0 for a time that is left out.
func duration(value any) *time.Duration {
	if s := number(value, 0); s != 0 {
		return new(time.Duration(s * float64(time.Second)))
	}
	return nil
}

func number(value any, otherwise float64) float64 {
	switch n := value.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return otherwise
}

func list(value any) []any {
	all, _ := value.([]any)
	return all
}
