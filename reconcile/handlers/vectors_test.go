package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The rules by which cases deviate from kopf.
const (
	byOrder     = "handlers 22: all handlers that are due are called in one pass"
	byDeadline  = "handlers 18: a running attempt is cancelled at its deadline; a success after that doesn't count"
	byFinalizer = "handlers 25: the finalizer is added, or removed, by the pass that calls the handlers"
	byNews      = "handlers 15: a new essence ends the wait of a handler, and one that has ended is called again"
	byDropping  = "handlers 14: handlers that aren't called for the cause any more are dropped"
	bySteps     = "handlers 16: to wait for steps is no attempt of the handler"
	byNesting   = "handlers 30: a step that has succeeded isn't repeated"
	byLimits    = "handlers 33: a limit that allows no call is a mistake of the registration"
	byResults   = "handlers 72: a step has no result"
)

// ownFailures is the rule of doubtful cases in which kopf gives a handler up that only waits for its steps.
const ownFailures = "waiting-for-children-is-no-attempt"

// slack is how much later than in the recorded case something may happen: no wait is shorter than a nanosecond here.
const slack = 50 * time.Millisecond

func TestVectors(t *testing.T) {
	vectortest.Run(t, "kopf-progress", func(t *testing.T, c *vectortest.Case) {
		synctest.Test(t, func(t *testing.T) { // the clock of the case is that of the bubble
			if c.Doubtful {
				c.Deviates(c.Rule)
			}
			playCase(t, c)
		})
	})
}

// comparison compares a play with a recorded case.
type comparison struct {
	*play
	c *vectortest.Case
	// waits counts how often a handler has waited for its steps, which kopf counts as attempts.
	waits map[string]int
	// waiting has 1 for each handler that waits for its steps since the present pass.
	waiting map[string]int
	// asap: kopf calls one handler in each step. loose: the times differ from the recorded ones from now on, by a rule.
	// Only the end is compared then.
	asap, loose bool
}

func playCase(t *testing.T, c *vectortest.Case) {
	p := &comparison{play: newPlay(t, c.Input), c: c, waits: map[string]int{}, waiting: map[string]int{}}
	p.asap = c.Input["lifecycle"] == "asap"
	p.loose = p.asap || c.Rule == ownFailures
	if p.asap {
		p.deviates(byOrder)
	}
	if err := p.start(); err != nil {
		assert.ErrorContains(t, err, "the handler would never be called")
		c.Deviates(byLimits)
		return
	}
	steps, outputs := c.Input["steps"].([]any), c.Output.(map[string]any)["steps"].([]any)
	for i, each := range steps {
		step, want := each.(map[string]any), outputs[i].(map[string]any)
		time.Sleep(seconds(step["at"]) + time.Duration(i)*time.Millisecond - time.Since(p.begin)) // a bit later each time: what is due at once is due
		if restart, _ := step["restart"].(bool); restart {
			require.NoError(t, p.start())
		}
		p.makeChange(step)
		if isAboutFinalizer(want) && i+1 < len(steps) {
			c.Deviates(byFinalizer)
			continue
		}
		if step["type"] == "DELETED" {
			p.remove()
		}
		digest := p.stored().Digest
		kind, typed := step["type"]
		p.pass(typed && kind == nil)
		if !p.loose {
			p.compare(want, digest)
		}
	}
	if p.loose {
		p.compareEnd(outputs)
	}
}

// isAboutFinalizer reports whether kopf only adds or removes the finalizer in a step.
func isAboutFinalizer(want map[string]any) bool {
	return want["done"] == nil && want["reason"] != "noop"
}

// makeChange makes a change of the user. If handlers wait or have ended, their times differ from kopf's from then on.
func (p *comparison) makeChange(step map[string]any) {
	patch, given := step["set"].(map[string]any)
	if !given {
		return
	}
	p.change(patch)
	if diff.At(patch, []string{"metadata", "deletionTimestamp"}) == nil && len(p.stored().Cycle) > 0 && p.c.Rule != "records-cleared-when-cause-gone" {
		p.loose = true
		if !p.c.Doubtful {
			p.c.Deviates(byNews)
		}
	}
}

// compare compares what a step has done.
func (p *comparison) compare(want map[string]any, digest string) {
	live, stored := p.live(), p.stored()
	states := want["states"].(map[string]any)
	p.countWaits(states)
	p.compareCalls(want["called"].([]any))
	for id, state := range states {
		p.compareState(id, state.(map[string]any))
	}
	assert.Contains(p.t, p.reasons(live, stored), want["reason"], "reason")
	if want["done"] != nil {
		assert.Equal(p.t, want["done"], stored.Cycle.Done(), "done")
	}
	assert.InDelta(p.t, seconds(want["delay"]).Seconds(), p.after.Seconds(), slack.Seconds(), "delay")
	purged := want["purged"]
	if p.c.Rule == "records-cleared-when-cause-gone" && want["reason"] == "noop" {
		purged = true
	}
	assert.Equal(p.t, purged, len(stored.Cycle) == 0, "purged")
	assert.Equal(p.t, want["finalizer"], live != nil && slices.Contains(live.GetFinalizers(), kopfFinalizer), "finalizer")
	if live == nil {
		return
	}
	assert.Equal(p.t, want["essence_stored"], stored.Digest != digest, "essence stored")
	p.compareStatus(live.Object["status"], want["status"])
}

// reasons returns the possible reasons of the present pass. kopf goes on with an object that is gone.
func (p *comparison) reasons(live *unstructured.Unstructured, stored record.Record) []any {
	for _, one := range stored.Cycle {
		return []any{string(one.Purpose)}
	}
	switch {
	case p.reason != "":
		return []any{p.reason}
	case live == nil:
		return []any{"gone", "free"}
	case live.GetDeletionTimestamp() != nil:
		return []any{"free"}
	}
	return []any{"noop"}
}

// countWaits counts the handlers that wait for their steps.
func (p *comparison) countWaits(states map[string]any) {
	clear(p.waiting)
	for id, each := range states {
		state := each.(map[string]any)
		if _, told := state["message"]; state["subrefs"] != nil && state["delayed"] != nil && !told && p.called(id) && !p.isNested(id) {
			p.waits[id]++
			p.waiting[id] = 1
			p.deviates(bySteps)
		}
	}
}

func (p *comparison) deviates(rule string) {
	if !p.c.Doubtful {
		p.c.Deviates(rule)
	}
}

func (p *comparison) called(id string) bool {
	return slices.ContainsFunc(p.calls, func(c call) bool { return c.id == id })
}

func (p *comparison) compareCalls(called []any) {
	var wanted []string
	for _, each := range called {
		one := each.(map[string]any)
		id, retry := idOf(one["id"].(string), p.scripts), one["retry"].(int64)
		if p.isNested(id) && retry > 0 {
			p.deviates(byNesting)
			continue
		}
		wanted = append(wanted, fmt.Sprintf("%s %d at %.1f", id, int(retry)-p.waits[id]+p.waiting[id], seconds(one["at"]).Seconds()))
	}
	assert.Equal(p.t, wanted, shown(p.calls, p.begin), "called")
	for _, c := range p.calls {
		if p.finalizerNeeded() {
			assert.True(p.t, c.held, "handlers 25: the finalizer is there before the first call")
		}
	}
}

func (p *comparison) finalizerNeeded() bool {
	return slices.ContainsFunc(p.scripts, func(each any) bool { return each.(map[string]any)["on"] == "delete" })
}

// compareState compares the state of a handler or a step.
func (p *comparison) compareState(id string, want map[string]any) {
	id = idOf(id, p.scripts)
	got, exists := p.stored().Cycle[id]
	if active, _ := want["active"].(bool); !active {
		p.deviates(byDropping)
		assert.False(p.t, exists, "%s: handlers 14", id)
		return
	}
	if p.isNested(id) {
		return
	}
	attempts, failed, ended, text, due, started := got.Attempts, got.Failed, got.Ended, got.Message, got.Due, got.Started
	if !exists {
		if strings.Contains(id, "/") {
			return // the steps of a handler that has ended aren't kept
		}
		end, known := p.ended[id]
		require.True(p.t, known, "%s: it has neither a record nor an end", id)
		attempts, failed, ended, text, started = end.attempts, end.failed, end.at, end.text, p.started[id]
	}
	success, failure := want["success"] == true, want["failure"] == true
	stopped := want["stopped"]
	if timeout := p.timeout(id); timeout > 0 && stopped != nil && seconds(stopped)-seconds(want["started"]) > timeout {
		p.deviates(byDeadline)
		success, failure, stopped = false, true, nil
		assert.InDelta(p.t, timeout.Seconds(), ended.Sub(started).Seconds(), slack.Seconds(), "%s: its context ends", id)
		assert.Contains(p.t, text, "given up after")
	}
	assert.Equal(p.t, failure, failed, "%s failed", id)
	assert.Equal(p.t, success || failure, !ended.IsZero(), "%s ended", id)
	if retries := want["retries"].(int64); retries > 0 {
		assert.Equal(p.t, int(retries)-p.waits[id], attempts, "%s: attempts", id)
	}
	p.near(want["started"], started, id+" started")
	p.near(stopped, ended, id+" ended")
	p.near(want["delayed"], due, id+" due")
	if message, told := want["message"].(string); told {
		assert.True(p.t, strings.HasPrefix(text, message), "%s: message %q", id, text)
	}
	if by, given := want["failed_by"]; given {
		assert.Contains(p.t, text, map[any]string{"timeout": "given up after ", "retries": " attempts"}[by], "%s failed", id)
	}
}

// near compares a moment, if one is given.
func (p *comparison) near(want any, got time.Time, what string) {
	if want != nil {
		assert.InDelta(p.t, seconds(want).Seconds(), got.Sub(p.begin).Seconds(), slack.Seconds(), what)
	}
}

func (p *comparison) timeout(id string) time.Duration {
	for _, each := range p.scripts {
		if script := each.(map[string]any); script["id"] == id {
			return seconds(script["timeout"])
		}
	}
	return 0
}

// compareStatus compares the results of handlers.
func (p *comparison) compareStatus(got, want any) {
	wanted, _ := want.(map[string]any)
	for id, value := range wanted {
		if strings.Contains(idOf(id, p.scripts), "/") {
			p.deviates(byResults)
			continue
		}
		result, _ := got.(map[string]any)
		assert.True(p.t, diff.Equal(value, result[idOf(id, p.scripts)]), "result of %s: %v", id, got)
	}
}

// compareEnd lets the handlers end, and compares what has come of it: the same handlers were called, with the same end,
// and each of them has seen the newest state.
func (p *comparison) compareEnd(outputs []any) {
	for range 20 {
		if p.after == 0 {
			break
		}
		time.Sleep(p.after)
		p.pass(false)
	}
	last := p.lastStates(outputs)
	called := map[string]call{}
	for _, c := range p.all {
		called[c.id] = c
	}
	var spec any
	if live := p.live(); live != nil {
		spec = live.Object["spec"]
	}
	for each, state := range last {
		id, want := idOf(each, p.scripts), state.(map[string]any)
		if active, _ := want["active"].(bool); !active || strings.Contains(id, "/") {
			continue
		}
		c, was := called[id]
		assert.True(p.t, was || want["failed_by"] != nil, "%s was called", id)
		assert.True(p.t, spec == nil || diff.Equal(spec, c.spec), "%s has seen the newest state", id)
		end, known := p.ended[id]
		if _, waits := want["stopped"]; waits {
			assert.True(p.t, known, "%s has ended", id)
			assert.Equal(p.t, want["failure"] == true && p.c.Rule != ownFailures, end.failed, "%s failed", id)
		}
	}
	if p.asap {
		p.compareAll(outputs)
	}
	assert.Empty(p.t, p.stored().Cycle, "nothing is left to do")
}

// compareAll compares the attempts of all handlers and steps, but not their times. A handler with steps has fewer.
func (p *comparison) compareAll(outputs []any) {
	var wanted, got []string
	for _, output := range outputs {
		for _, each := range output.(map[string]any)["called"].([]any) {
			one := each.(map[string]any)
			if id := idOf(one["id"].(string), p.scripts); !hasSubs(p.scripts, strings.Split(id, "/")) {
				wanted = append(wanted, fmt.Sprint(id, one["retry"]))
			}
		}
	}
	for _, c := range p.all {
		if !hasSubs(p.scripts, strings.Split(c.id, "/")) {
			got = append(got, fmt.Sprint(c.id, c.retry))
		}
	}
	assert.Subset(p.t, got, wanted, "all calls")
}

// lastStates returns the states of the last step that has some.
func (p *comparison) lastStates(outputs []any) (states map[string]any) {
	for _, each := range slices.Backward(outputs) {
		if states = each.(map[string]any)["states"].(map[string]any); len(states) > 0 {
			return states
		}
	}
	return nil
}

// isNested reports whether a step has steps.
func (p *comparison) isNested(id string) bool {
	return strings.Contains(id, "/") && hasSubs(p.scripts, strings.Split(id, "/"))
}

func hasSubs(scripts []any, path []string) bool {
	for _, each := range scripts {
		script := each.(map[string]any)
		subs, _ := script["subs"].([]any)
		if script["id"] == path[0] {
			return len(path) == 1 && len(subs) > 0 || len(path) > 1 && hasSubs(subs, path[1:])
		}
	}
	return false
}

// idOf returns the id of a handler here. kopf appends the field to it.
func idOf(id string, scripts []any) string {
	id = valid(id)
	for _, each := range scripts {
		script := each.(map[string]any)
		if field, _ := script["field"].(string); field != "" && id == valid(fmt.Sprint(script["id"], "/", field)) {
			return script["id"].(string)
		}
	}
	return id
}
