package watcher_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
)

// spied is a harness with what watchers log and record.
type spied struct {
	*reconciletest.Harness
	made   watch.Reconciler
	log    testlog.Text
	events []event.Event
}

// spy drives watchers whose log and events are kept.
func spy(t *testing.T, watchers *watcher.Watchers[Bucket]) *spied { return spyOn(t, watchers) }

func spyOn[T any](t *testing.T, watchers *watcher.Watchers[T]) *spied {
	h := &spied{}
	h.Harness = reconciletest.Drive(t, watch.NewController(buckets, func(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
		env.Logger = slog.New(slog.NewTextHandler(&h.log, nil))
		env.Events = event.Func(func(e event.Event) { h.events = append(h.events, e) })
		var err error
		h.made, err = watchers.Reconciler(ctx, env)
		return h.made, err
	}))
	return h
}

func TestWaiting(t *testing.T) {
	waits := request.Precondition("the account isn't there yet")
	for _, row := range []struct {
		reason string
		policy watcher.RetryPolicy
		err    error
		// times are those of the first calls.
		times []time.Duration
	}{
		{"it goes on with the last delay of the policy", watcher.Exponential(5*time.Second, 3), waits,
			[]time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second, 55 * time.Second, 75 * time.Second}},
		{"each minute, if the policy never repeats", nil, waits, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}},
		{"an error may set the time", watcher.Exponential(5*time.Second, 1), request.RetryAfter(7*time.Second, waits),
			[]time.Duration{0, 7 * time.Second, 14 * time.Second, 21 * time.Second}},
		{"never more often than each second after the last try", watcher.Exponential(0, 1), waits,
			[]time.Duration{0, time.Millisecond, 1001 * time.Millisecond, 2001 * time.Millisecond}},
	} {
		t.Run("watcher 66: a watcher that waits hasn't failed: "+row.reason, func(t *testing.T) {
			var times []time.Duration
			var h *spied
			h = spy(t, watcher.New[Bucket](buckets, watcher.Retry(row.policy),
				watcher.OnError(func(context.Context, watcher.Failure) { assert.Fail(t, "it is no failure") }),
				watcher.Add("w", watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error {
					times = append(times, h.Now().Sub(reconciletest.Started))
					return row.err
				}}))))
			h.Apply(small)
			h.Advance(time.Hour)
			assert.Equal(t, row.times, times[:len(row.times)])
			assert.Greater(t, time.Duration(len(times))*time.Minute, 58*time.Minute, "it isn't given up")
			assert.Contains(t, h.log.String(), `level=INFO msg="a watcher waits"`)
			assert.NotRegexp(t, "WARN|ERROR", h.log.String())
			assert.Empty(t, h.events)
			tally := h.made.(standing.Provider).Tally()
			assert.Equal(t, map[standing.Standing]int{standing.Waiting: 1}, tally.Resources)
			assert.Equal(t, map[string]int{"w": 0}, tally.GivenUp)
		})
	}
	t.Run("watcher 66: waiting doesn't count as a try, and failures in between do", func(t *testing.T) {
		var failures []watcher.Failure
		errs := []error{waits, assert.AnError, waits, waits, assert.AnError, assert.AnError}
		h := spy(t, watcher.New[Bucket](buckets, watcher.Retry(watcher.Exponential(time.Second, 2)),
			watcher.OnError(func(_ context.Context, f watcher.Failure) { failures = append(failures, f) }),
			watcher.AddReconciler("w", func(_ context.Context, r watcher.Request[Bucket]) (watcher.Result, error) {
				err := errs[0]
				errs = errs[1:]
				return watcher.Result{}, err
			})))
		h.Apply(small)
		h.Advance(time.Hour)
		assert.Empty(t, errs)
		var attempts []int
		for _, f := range failures {
			attempts = append(attempts, f.Attempt)
		}
		assert.Equal(t, []int{1, 2, 3}, attempts)
		assert.True(t, failures[2].GivenUp)
	})
	t.Run("watcher 66: an error that means waiting and is permanent is given up", func(t *testing.T) {
		var failures []watcher.Failure
		h := spy(t, watcher.New[Bucket](buckets, watcher.OnError(func(_ context.Context, f watcher.Failure) { failures = append(failures, f) }),
			watcher.Add("w", watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error { return request.Permanent(waits) }}))))
		h.Apply(small)
		h.Advance(time.Hour)
		assert.Len(t, failures, 1)
		assert.True(t, failures[0].GivenUp)
	})
	t.Run("watcher 64: a deletion that a finalizer holds succeeds after an outage of an hour", func(t *testing.T) {
		var h *reconciletest.Harness
		h = reconciletest.Drive(t, watcher.New[Bucket](buckets, watcher.Add("w", watcher.Opinionate(watcher.Funcs[Bucket]{
			Delete: func(context.Context, *Bucket) error {
				if h.Now().Sub(reconciletest.Started) < time.Hour {
					return assert.AnError
				}
				return nil
			},
		}, watcher.Finalizer(own)))))
		h.Apply(small)
		h.Advance(0)
		h.Delete("Bucket small")
		h.Advance(time.Hour - time.Second)
		h.Exists("Bucket small")
		h.Advance(2 * time.Minute)
		h.Gone("Bucket small")
	})
}
