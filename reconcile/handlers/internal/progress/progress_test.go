package progress

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func TestFor(t *testing.T) {
	t.Parallel()
	done := Record{Purpose: cause.Update, Seen: "one", Started: at(0), Ended: at(1), Attempts: 1}
	waits := Record{Purpose: cause.Update, Seen: "one", Started: at(0), Due: at(60), Attempts: 2, Message: "no"}
	fresh := func(reason cause.Reason) Record { return Record{Purpose: reason} }
	purpose := func(r Record, reason cause.Reason) Record { r.Purpose = reason; return r }
	soon := func(r Record) Record { r.Due = time.Time{}; return r }
	for _, row := range []struct {
		reason string
		before Cycle
		cause  cause.Reason
		seen   string
		ids    []string
		want   Cycle
	}{
		{"handlers 13: a cycle begins", nil, cause.Create, "one", []string{"a", "b"}, Cycle{"a": fresh(cause.Create), "b": fresh(cause.Create)}},
		{"handlers 13: it goes on", Cycle{"a": done, "b": waits}, cause.Update, "one", []string{"a", "b"}, Cycle{"a": done, "b": waits}},
		{"handlers 13: a handler joins", Cycle{"a": done}, cause.Update, "one", []string{"a", "b"}, Cycle{"a": done, "b": fresh(cause.Update)}},
		{"handlers 14: the cause is gone: nothing is kept", Cycle{"a": done, "b": waits}, cause.Noop, "one", nil, Cycle{}},
		{"handlers 14: a handler isn't called any more", Cycle{"a": done, "b": waits, "b/x": done}, cause.Update, "one", []string{"a"}, Cycle{"a": done}},
		{"handlers 15: a new essence: who has ended is called again, who waits waits no longer", Cycle{"a": done, "b": waits}, cause.Update, "two", []string{"a", "b"},
			Cycle{"a": fresh(cause.Update), "b": soon(waits)}},
		{"handlers 15: another reason: who waits goes on waiting for it", Cycle{"b": waits}, cause.Resume, "one", []string{"b"}, Cycle{"b": purpose(waits, cause.Resume)}},
		{"handlers 15: a deletion begins anew", Cycle{"b": waits}, cause.Delete, "one", []string{"b"}, Cycle{"b": fresh(cause.Delete)}},
		{"handlers 15: another reason: who has ended is called for it", Cycle{"a": done}, cause.Delete, "one", []string{"a"}, Cycle{"a": fresh(cause.Delete)}},
		{"handlers 16: steps go on with their handler", Cycle{"b": waits, "b/x": done, "b/y": waits}, cause.Update, "one", []string{"b"},
			Cycle{"b": waits, "b/x": done, "b/y": waits}},
		{"handlers 16: steps begin anew with their handler", Cycle{"a": done, "a/x": done}, cause.Update, "two", []string{"a"}, Cycle{"a": fresh(cause.Update)}},
		{"handlers 16: steps that saw another essence are made again", Cycle{"b": waits, "b/x": done}, cause.Update, "two", []string{"b"},
			Cycle{"b": soon(waits), "b/x": fresh(cause.Update)}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, row.before.For(row.cause, row.seen, row.ids))
		})
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	begun := Record{}.Begin("one", at(0))
	for _, row := range []struct {
		reason string
		limits Limits
		record Record
		after  time.Duration
		now    float64
		// failed: it is given up, because of why; otherwise it is due at the time due, in seconds.
		failed bool
		why    string
		due    float64
	}{
		{reason: "handlers 17: it is called again after the time", record: begun, after: 10 * time.Second, now: 5, due: 15},
		{reason: "handlers 17: at once", record: begun, now: 5, due: 5},
		{reason: "handlers 18: the last attempt", limits: Limits{Attempts: 1}, record: begun, after: time.Second, failed: true, why: "given up after 1 attempts: no"},
		{reason: "handlers 18: one is left", limits: Limits{Attempts: 2}, record: begun, after: time.Second, due: 1},
		{reason: "handlers 18: the time would be over", limits: Limits{Within: 10 * time.Second}, record: begun, after: 10 * time.Second, failed: true, why: "given up after 10s: no"},
		{reason: "handlers 18: it wouldn't", limits: Limits{Within: 10 * time.Second}, record: begun, after: 9 * time.Second, due: 9},
		{reason: "handlers 18: the time counts before the attempts", limits: Limits{Within: time.Second, Attempts: 1}, record: begun, after: time.Second, failed: true, why: "given up after 1s: no"},
		{reason: "handlers 104: a wait is none", limits: Limits{Attempts: 1}, record: begun.OnlyWaited(), after: time.Second, due: 1},
		{reason: "handlers 104: the time counts", limits: Limits{Within: time.Second}, record: begun.OnlyWaited(), after: time.Second, failed: true, why: "given up after 1s: no"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			got := row.limits.Retried(row.record, "no", row.after, at(row.now))
			assert.Equal(t, 1, got.Attempts)
			assert.Equal(t, row.failed, got.Failed)
			assert.Equal(t, row.failed, got.HasEnded())
			if row.failed {
				assert.Equal(t, row.why, got.Message)
				return
			}
			assert.Equal(t, at(row.due), got.Due)
		})
	}
	assert.Equal(t, "given up after 1s", Limits{Within: time.Second}.Spent(begun, at(1)), "handlers 18: also when the process was away for long")
	deadline, ok := Limits{Within: time.Minute}.Deadline(begun)
	assert.True(t, ok)
	assert.Equal(t, at(60), deadline, "handlers 18: a running attempt is cancelled then")
}

// A whole cycle of two handlers, stored in between.
func TestCycle(t *testing.T) {
	t.Parallel()
	c := Cycle(nil).For(cause.Create, "one", []string{"b", "a"})
	assert.Equal(t, []string{"a", "b"}, c.Ready(at(0)))
	assert.False(t, c.Done())
	c = c.With("a", c["a"].Begin("one", at(0)).Succeeded(at(1)))
	c = c.With("b", Limits{}.Retried(c["b"].Begin("one", at(0)), "no", 10*time.Second, at(1)))
	document, err := json.Marshal(c)
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":{"purpose":"create","seen":"one","started":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:01Z","attempts":1},
		"b":{"purpose":"create","seen":"one","started":"2026-01-01T00:00:00Z","due":"2026-01-01T00:00:11Z","attempts":1,"message":"no"}}`, string(document))
	var stored Cycle
	require.NoError(t, json.Unmarshal(document, &stored))
	stored = stored.For(cause.Create, "one", []string{"a", "b"})
	assert.Empty(t, stored.Ready(at(5)), "handlers 17: an event doesn't shorten the wait")
	due, ok := stored.Next()
	assert.True(t, ok)
	assert.Equal(t, at(11), due)
	assert.Equal(t, []string{"b"}, stored.Ready(at(11)), "handlers 13: who has ended isn't called again after a restart")
	stored = stored.With("b", stored["b"].Begin("one", at(11)).FailedForGood("never", at(12)))
	assert.True(t, stored.Done(), "handlers 18: who has failed for good has ended")
	_, ok = stored.Next()
	assert.False(t, ok)
	assert.True(t, Cycle(nil).Done())
}

// Steps are called by their handler, whose own attempts they don't count.
func TestSteps(t *testing.T) {
	t.Parallel()
	c := Cycle(nil).For(cause.Create, "one", []string{"a"})
	c = c.With("a", c["a"].Begin("one", at(0)))
	c = c.With("a/x", Limits{}.Retried(Record{}.Begin("one", at(0)), "no", 10*time.Second, at(0)))
	c = c.With("a", c["a"].Waits(c["a/x"].Due))
	assert.Zero(t, c["a"].Attempts, "handlers 16: waiting for a step is no attempt")
	assert.Empty(t, c.Ready(at(9)))
	assert.Equal(t, []string{"a"}, c.Ready(at(10)))
	assert.False(t, c.Done())
}

// Handlers that are called for a state that was handled before are called until all have ended.
func TestUpdates(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "b"}
	c := Cycle(nil).For(cause.Update, "one", ids)
	assert.False(t, c.Updates("one"), "none was called")
	c = c.With("a", c["a"].Begin("one", at(0)).Succeeded(at(0)))
	assert.True(t, c.Updates("one"), "handlers 15: b wasn't called")
	assert.False(t, c.Updates("two"))
	assert.True(t, c.UpdatesIn("a", "one") && c.UpdatesIn("b", "one"))
	assert.False(t, c.UpdatesIn("c", "one"))
	c = c.With("b", c["b"].Begin("two", at(0)))
	assert.False(t, c.UpdatesIn("b", "one"), "it was called for another state")
	c = c.With("b", c["b"].Begin("one", at(0)).FailedForGood("no", at(0)))
	assert.False(t, c.Updates("one"), "all have ended")
	c = Cycle(nil).For(cause.Resume, "one", ids)
	c = c.With("a", c["a"].Begin("one", at(0)))
	assert.False(t, c.Updates("one"), "another reason")
}
