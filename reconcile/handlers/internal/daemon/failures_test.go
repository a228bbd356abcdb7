package daemon

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	// fails returns a daemon that fails after a time, and is run again after a second for each failure.
	fails := func(c *calls, after time.Duration, limits progress.Limits) Spec[claim] {
		return Spec[claim]{
			ID: "measure", Limits: limits, Grace: time.Second,
			Run: c.do(func(ctx context.Context) error {
				if !trigger.Sleep(ctx, after) {
					return ctx.Err()
				}
				return errNo
			}),
			Retry: func(_ error, failures int) (time.Duration, bool) { return time.Duration(failures) * time.Second, true },
		}
	}
	// passes makes the passes that a caller makes, for a time, and returns what was reported, as text.
	passes := func(w *world, spec Spec[claim], for_ time.Duration) (all []string) {
		began := time.Now()
		for until := began.Add(for_); time.Now().Before(until); {
			w.keep(spec)
			for w.bringsOf() > 0 {
				w.keep(spec)
			}
			for _, r := range w.told() {
				all = append(all, fmt.Sprintf("%s %s: %v", time.Since(began), r.What, r.Err))
			}
			time.Sleep(time.Second)
		}
		return all
	}
	inBubble(t, "handlers 55: it is run again after the time that the policy gives", func(w *world) {
		var c calls
		spec := fails(&c, 0, progress.Limits{})
		now := w.keep(spec)
		assert.Equal(w.t, Running, phase(now))
		told := w.told()
		require.Len(w.t, told, 1)
		assert.Equal(w.t, []any{Failed, errNo, time.Second}, []any{told[0].What, told[0].Err, time.Until(told[0].Again)})
		assert.Equal(w.t, 1, w.bringsOf())
		now = w.keep(spec)
		due, _ := now.Due()
		assert.Equal(w.t, Standing{{ID: "measure", Phase: Waiting, Failures: 1, Err: errNo, Due: due}}, now)
		assert.Equal(w.t, time.Second, time.Until(due))
		assert.Equal(w.t, []string{"1s failed: no", "3s failed: no", "6s failed: no"}, passes(w, spec, 8*time.Second))
		assert.Empty(w.t, w.keep(), "handlers 53: it begins anew after a stop")
		w.keep(spec)
		assert.Equal(w.t, 1, w.keep(spec)[0].Failures)
		w.keep()
	})
	inBubble(t, "handlers 55: until no attempt is left", func(w *world) {
		var c calls
		spec := fails(&c, 0, progress.Limits{Attempts: 3})
		assert.Equal(w.t, []string{"0s failed: no", "1s failed: no", "3s given up: given up after 3 attempts: no"}, passes(w, spec, time.Minute))
		w.keep()
		now := w.keep(spec)
		assert.Equal(w.t, []any{Broken, 3}, []any{phase(now), now[0].Failures})
		assert.ErrorIs(w.t, now[0].Err, errNo)
		n, _ := c.state()
		assert.Equal(w.t, 3, n)
		w.Forget(key)
	})
	inBubble(t, "handlers 55: or the error is for good", func(w *world) {
		var c calls
		spec := fails(&c, 0, progress.Limits{})
		spec.Retry = func(err error, failures int) (time.Duration, bool) { return 0, !errors.Is(err, errNo) }
		assert.Equal(w.t, []string{"0s given up: no"}, passes(w, spec, time.Minute))
		w.Forget(key)
		spec.Retry = nil
		assert.Equal(w.t, []string{"0s given up: no"}, passes(w, spec, time.Minute))
		w.Forget(key)
	})
	inBubble(t, "handlers 55: a run of ten minutes makes the failures before it not count", func(w *world) {
		var c calls
		spec := fails(&c, healthy-time.Second, progress.Limits{Attempts: 2})
		assert.Len(w.t, passes(w, spec, time.Hour), 2)
		w.Forget(key)
		spec = fails(&c, healthy, progress.Limits{Attempts: 2})
		assert.Len(w.t, passes(w, spec, time.Hour), 5)
		w.Forget(key)
	})
	inBubble(t, "handlers 55: a panic is an error with its place and stack", func(w *world) {
		spec := Spec[claim]{ID: "odd", Run: func(context.Context, Handle[claim]) error { panic("odd") }, Retry: func(error, int) (time.Duration, bool) {
			return time.Hour, true
		}}
		w.keep(spec)
		told := w.told()
		require.Len(w.t, told, 1)
		panicked, ok := errors.AsType[*dag.PanicError](told[0].Err)
		require.True(w.t, ok)
		assert.Regexp(w.t, `^panic: odd \(failures_test\.go:\d+\)$`, panicked.Error())
		assert.Contains(w.t, string(panicked.Stack), "daemon.TestFailures")
		w.Forget(key)
	})
	inBubble(t, "handlers 55: so is the end of its goroutine", func(w *world) {
		w.keep(Spec[claim]{ID: "odd", Run: func(context.Context, Handle[claim]) error { runtime.Goexit(); return nil }})
		told := w.told()
		require.Len(w.t, told, 1)
		assert.ErrorIs(w.t, told[0].Err, errExited)
		w.Forget(key)
	})
	inBubble(t, "handlers 56: its time ends it for good", func(w *world) {
		var c calls
		spec := c.spec(0)
		spec.Limits.Within = time.Minute
		assert.Equal(w.t, []string{"1m0s given up: given up after 1m0s"}, passes(w, spec, time.Hour))
		assert.Equal(w.t, []error{Overdue}, c.causes)
		assert.Equal(w.t, Broken, phase(w.keep(spec)))
		w.Forget(key)
	})
	inBubble(t, "handlers 56: also if it doesn't return", func(w *world) {
		var c calls
		spec := c.spec(time.Hour)
		spec.Limits.Within = time.Minute
		assert.Equal(w.t, []string{"1m5s abandoned: <nil>"}, passes(w, spec, 10*time.Minute))
		assert.Equal(w.t, []string{"51m0s returned: <nil>"}, passes(w, spec, 10*time.Hour)[:1])
		assert.Equal(w.t, Broken, phase(w.keep(spec)))
		w.Forget(key)
	})
	inBubble(t, "handlers 56: the time is that of all runs", func(w *world) {
		var c calls
		spec := fails(&c, 20*time.Second, progress.Limits{Within: time.Minute})
		assert.Equal(w.t, []string{"20s failed: no", "41s failed: no", "1m0s given up: given up after 1m0s"}, passes(w, spec, time.Hour))
		w.Forget(key)
	})
	inBubble(t, "handlers 56: no run begins after it", func(w *world) {
		var c calls
		spec := fails(&c, 0, progress.Limits{Within: time.Minute})
		w.keep(spec)
		time.Sleep(time.Hour)
		w.told()
		w.keep(spec)
		told := w.told()
		require.Len(w.t, told, 1)
		assert.Equal(w.t, GivenUp, told[0].What)
		w.Forget(key)
	})
}

// What happens at the moment of a stop: the daemon has returned, or its time is over, before it was stopped.
func TestMoments(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, row := range []struct {
		reason   string
		stop     Stop
		is       result
		outdated bool
		what     What
		ended    bool
	}{
		{"handlers 54: it has returned nil, so it has ended by itself", Paused, result{}, false, Ended, true},
		{"handlers 54: which is nothing to another object", Replaced, result{}, true, Ended, false},
		{"handlers 55: it has failed, which doesn't matter any more", Paused, result{err: errNo}, false, Stopped, false},
		{"handlers 56: its time is over", Overdue, result{err: context.Canceled, stopped: true}, false, GivenUp, true},
		{"handlers 56: of another object", Overdue, result{err: errNo, stopped: true}, true, GivenUp, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			k, o := New(func(Report[claim]) {}), &object[claim]{latest: &atomic.Pointer[claim]{}}
			d := &daemon[claim]{}
			r := &run[claim]{object: o, latest: o.latest, began: now.Add(-time.Hour), stop: row.stop, stopped: now}
			if row.outdated {
				o.latest = &atomic.Pointer[claim]{}
			}
			assert.Equal(t, row.what, k.outcome(d, r, row.is, now).What)
			assert.Equal(t, row.ended, d.record.HasEnded())
		})
	}
}
