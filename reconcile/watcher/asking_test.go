package watcher_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicies(t *testing.T) {
	t.Run("watcher 70: a policy may use the watchers, since no lock is held when it is asked", func(t *testing.T) {
		var j journal
		var watchers *watcher.Watchers[Bucket]
		asked := 0
		adds := func() {
			asked++
			handle, err := watchers.Add(watcher.Add("late", audit{}))
			require.NoError(t, err)
			handle.Remove()
		}
		watchers = watcher.New[Bucket](buckets,
			watcher.Retry(func(error, int) (time.Duration, bool) {
				adds()
				return time.Minute, true
			}),
			watcher.Dequeue(func(watcher.Question) bool {
				adds()
				return true
			}),
			watcher.Add("w", watcher.Simple(j.funcs("w", map[string]int{"add": 1}))))
		h := reconciletest.Drive(t, watchers)
		h.Apply(small)
		h.Advance(time.Second)
		resize(h, 2)
		h.Advance(0)
		assert.Equal(t, []string{"w add 1 fails", "w add 2"}, j.taken())
		assert.Equal(t, 2, asked)
	})
	t.Run("watcher 70: a policy that panics is logged once, and the default decides", func(t *testing.T) {
		var j journal
		h := spy(t, watcher.New[Bucket](buckets,
			watcher.Retry(func(error, int) (time.Duration, bool) { panic("in Retry") }),
			watcher.Dequeue(func(watcher.Question) bool { panic("in Dequeue") }),
			watcher.Add("w", watcher.Simple(j.funcs("w", map[string]int{"update": -1})))))
		j.now, j.start = h.Now, h.Now()
		h.Apply(small)
		h.Advance(0)
		resize(h.Harness, 2)
		h.Advance(3 * time.Second)
		resize(h.Harness, 3)
		h.Advance(time.Hour)
		assert.Equal(t, []string{"0s w add 1", "0s w update 1->2 fails", "3s w update 1->3 fails", "8s w update 1->3 fails", "18s w update 1->3 fails",
			"38s w update 1->3 fails", "1m18s w update 1->3 fails", "2m38s w update 1->3 fails"}, j.taken())
		assert.Equal(t, 1, h.log.Count(`level=ERROR msg="a policy of a watcher panicked: the default decides" watcher=w`))
	})
}

// TestCostOfWaiting has watchers that wait much longer than their policy repeats.
func TestCostOfWaiting(t *testing.T) {
	waits := request.Precondition("the account isn't there yet")
	for _, row := range []struct {
		reason string
		policy watcher.RetryPolicy
		errs   []error
	}{
		{"one that ends", watcher.Exponential(time.Second, 5), []error{waits}},
		{"one that never repeats", watcher.Exponential(time.Second, 0), []error{waits}},
		{"when an error sets the time now and then", watcher.Exponential(time.Second, 5), []error{waits, waits, request.RetryAfter(time.Second, waits)}},
	} {
		t.Run("watcher 82: a policy that has given up is asked at most twice a call, however long a watcher waits: "+row.reason, func(t *testing.T) {
			calls, asked, most := 0, 0, 0
			h := spy(t, watcher.New[Bucket](buckets,
				watcher.Retry(func(err error, attempt int) (time.Duration, bool) {
					asked++
					most = max(most, asked)
					return row.policy(err, attempt)
				}),
				watcher.Add("w", watcher.Simple(watcher.Funcs[Bucket]{Add: func(context.Context, *Bucket) error {
					asked = 0
					calls++
					return row.errs[calls%len(row.errs)]
				}}))))
			h.Apply(small)
			h.Advance(3 * time.Hour)
			assert.Greater(t, calls, 100)
			assert.LessOrEqual(t, most, 2)
		})
	}
}
