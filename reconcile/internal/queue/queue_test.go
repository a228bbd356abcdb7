package queue

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func key(name string) request.Key { return request.Key{Name: name} }

// take hands out n keys, each done at once, and says why.
func take(t *testing.T, q *Queue, n int) (taken []string) {
	t.Helper()
	for range n {
		require.Positive(t, q.Len())
		key, triggers, ok := q.Get()
		require.True(t, ok)
		taken = append(taken, key.Name+": "+triggers.String())
		q.Done(key)
	}
	return taken
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		add  func(q *Queue)
		want []string
	}{
		"as they were added": {func(q *Queue) {
			q.Add(key("b"), request.Changed)
			q.Add(key("a"), request.Changed)
		}, []string{"b: changed", "a: changed"}},
		"watch 9: each once, with all that happened": {func(q *Queue) {
			q.Add(key("a"), request.Child)
			q.Add(key("b"), request.Child)
			q.Add(key("a"), request.Changed)
			q.Add(key("a"), request.Changed)
		}, []string{"a: child,changed", "b: child"}},
		"what is being deleted first, what was only there last": {func(q *Queue) {
			q.Add(key("listed"), request.Listed)
			q.Add(key("periodic"), request.Periodic)
			q.Add(key("changed"), request.Changed)
			q.Add(key("forced"), request.Forced)
			q.Add(key("deleting"), request.Deleting)
			q.Add(key("nobody says why"), 0)
		}, []string{"deleting: deleting", "forced: forced", "changed: changed", "periodic: periodic", "listed: listed", "nobody says why: "}},
		"one that becomes urgent overtakes": {func(q *Queue) {
			q.Add(key("a"), request.Listed)
			q.Add(key("b"), request.Listed)
			q.Add(key("c"), request.Changed)
			q.Add(key("b"), request.Deleting)
		}, []string{"b: listed,deleting", "c: changed", "a: listed"}},
		"and isn't put back by less": {func(q *Queue) {
			q.Add(key("a"), request.Deleting)
			q.Add(key("b"), request.Changed)
			q.Add(key("a"), request.Listed)
		}, []string{"a: listed,deleting", "b: changed"}},
		"watch mistake 14: what has waited long comes before what is urgent": {func(q *Queue) {
			q.Add(key("listed"), request.Listed)
			time.Sleep(time.Minute + time.Second)
			q.Add(key("deleting"), request.Deleting)
		}, []string{"listed: listed", "deleting: deleting"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := New()
				row.add(q)
				assert.Equal(t, row.want, take(t, q, len(row.want)))
				assert.Zero(t, q.Len())
			})
		})
	}
}

func TestOneTakerAtATime(t *testing.T) {
	t.Parallel()
	q := New()
	q.Add(key("a"), request.Changed)
	first, _, _ := q.Get()
	q.Add(first, request.Child)
	q.Add(key("b"), request.Listed)
	q.Add(first, request.Deleting)
	assert.Equal(t, 2, q.Len())
	other, _, _ := q.Get()
	assert.Equal(t, "b", other.Name, "watch 9: a is worked on")
	q.Done(other)
	assert.Equal(t, 1, q.Len())
	q.Done(first)
	assert.Equal(t, []string{"a: child,deleting"}, take(t, q, 1), "once more, for all of it")
	q.Done(key("never taken"))
	assert.Zero(t, q.Len())
}

func TestTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New()
		began := time.Now()
		next := func() (string, time.Duration) {
			key, triggers, _ := q.Get()
			q.Done(key)
			return key.Name + ": " + triggers.String(), time.Since(began)
		}
		q.After(key("a"), time.Hour, request.Periodic)
		q.After(key("a"), time.Minute, request.Retry)
		what, after := next()
		assert.Equal(t, "a: retry", what, "watch 14: one timer an object")
		assert.Equal(t, time.Minute, after)
		q.After(key("a"), time.Minute, request.Periodic)
		q.After(key("b"), 2*time.Minute, request.Periodic)
		q.Cancel(key("a"))
		q.Cancel(key("none"))
		what, after = next()
		assert.Equal(t, "b: periodic", what)
		assert.Equal(t, 3*time.Minute, after)
		q.After(key("a"), 0, request.Periodic)
		what, _ = next()
		assert.Equal(t, "a: periodic", what)
		assert.Empty(t, q.items, "nothing is kept for nobody")
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New()
		q.Add(key("a"), request.Changed)
		a, _, _ := q.Get()
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				_, _, ok := q.Get()
				assert.False(t, ok)
			})
		}
		synctest.Wait()
		q.Add(a, request.Changed)
		q.After(key("b"), time.Minute, request.Periodic)
		q.Close()
		waiting.Wait()
		q.Done(a)
		q.Add(key("c"), request.Changed)
		q.After(key("c"), time.Second, request.Changed)
		time.Sleep(time.Hour)
		_, _, ok := q.Get()
		assert.False(t, ok, "what waited is dropped")
		assert.Zero(t, q.Len())
		q.Close()
	})
}

// Whatever is done to it: each key that was added is handed out afterwards, to one taker at a time.
func TestManyTakers(t *testing.T) {
	t.Parallel()
	const keys, adds, takers = 50, 20_000, 8
	q := New()
	var mu sync.Mutex
	busy, wanted, got := map[request.Key]bool{}, map[request.Key]int{}, map[request.Key]int{}
	var work sync.WaitGroup
	for range takers {
		work.Go(func() {
			for {
				key, _, ok := q.Get()
				if !ok {
					return
				}
				mu.Lock()
				assert.False(t, busy[key], "one taker at a time")
				busy[key], got[key] = true, wanted[key]
				mu.Unlock()
				mu.Lock()
				busy[key] = false
				mu.Unlock()
				q.Done(key)
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range adds {
		k := key(fmt.Sprint(random.IntN(keys)))
		mu.Lock()
		wanted[k] = i
		mu.Unlock()
		q.Add(k, 1<<random.IntN(11))
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return q.Len() == 0 && assert.ObjectsAreEqual(wanted, got)
	}, 30*time.Second, time.Millisecond, "each was handed out after its last change")
	q.Close()
	work.Wait()
}

func BenchmarkQueue(b *testing.B) {
	q := New()
	keys := make([]request.Key, 10_000)
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, key := range keys {
			q.Add(key, request.Changed)
		}
		for range keys {
			key, _, _ := q.Get()
			q.Done(key)
		}
	}
}

func TestDrop(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		do   func(t *testing.T, q *Queue)
		want []string
	}{
		"what waits": {func(_ *testing.T, q *Queue) {
			for _, name := range []string{"a", "b", "c"} {
				q.Add(key(name), request.Changed)
			}
			q.Drop(key("b"))
		}, []string{"a: changed", "c: changed"}},
		"what has a timer": {func(_ *testing.T, q *Queue) {
			q.After(key("a"), time.Second, request.Periodic)
			q.Drop(key("a"))
		}, nil},
		"what somebody has, and has to be again": {func(t *testing.T, q *Queue) {
			q.Add(key("a"), request.Changed)
			a, _, _ := q.Get()
			q.Add(a, request.Changed)
			q.Drop(a)
			assert.Zero(t, q.Len())
			assert.True(t, q.After(a, time.Second, request.Periodic))
			assert.True(t, q.Cancel(a))
			q.Done(a)
		}, nil},
		"what comes back meanwhile counts": {func(t *testing.T, q *Queue) {
			q.Add(key("a"), request.Changed)
			a, _, _ := q.Get()
			q.Drop(a)
			q.Add(a, request.Listed)
			assert.True(t, q.After(a, time.Second, request.Periodic))
			q.Done(a)
			again, _, _ := q.Get()
			assert.False(t, q.Cancel(again))
			assert.False(t, q.After(again, time.Second, request.Retry))
			q.Done(again)
		}, []string{"a: retry"}},
		"what nobody knows": {func(t *testing.T, q *Queue) {
			q.Drop(key("a"))
			assert.False(t, q.Cancel(key("a")))
		}, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := New()
				row.do(t, q)
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Equal(t, len(row.want), q.Len())
				assert.Equal(t, row.want, take(t, q, len(row.want)))
				assert.Empty(t, q.items, "nothing is kept for nobody")
				assert.Zero(t, q.State().Timers)
			})
		})
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New()
		assert.Equal(t, State{}, q.State())
		q.Add(key("a"), request.Changed)
		q.Add(key("b"), request.Changed)
		q.After(key("b"), time.Minute, request.Periodic)
		q.After(key("b"), time.Hour, request.Periodic)
		q.After(key("c"), time.Minute, request.Periodic)
		time.Sleep(time.Second)
		a, _, _ := q.Get()
		taken := time.Now()
		time.Sleep(time.Second)
		q.Add(a, request.Changed)
		assert.Equal(t, State{Waiting: 2, Timers: 2, Taken: taken}, q.State())
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, State{Waiting: 3, Timers: 1, Taken: taken}, q.State())
		q.Close()
		assert.Equal(t, State{Taken: taken}, q.State())
	})
}

// A clock that is set forward or back disturbs neither order nor timers: both go by the time that passes.
func TestMonotonicTime(t *testing.T) {
	t.Parallel()
	t.Run("watch 15: turns and their moments carry a monotonic reading", func(t *testing.T) {
		t.Parallel()
		q := New()
		q.Add(key("a"), request.Deleting)
		assert.Contains(t, q.items[key("a")].turn.String(), " m=", "after its head start too")
		_, _, _ = q.Get()
		assert.Contains(t, q.State().Taken.String(), " m=")
	})
}
