package watcher_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/reconciletest"
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
