package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func key(name string) deploy.Ref { return deploy.Ref{Name: name} }

// get takes a key, beside what else is taken.
func (q *Queue) get() (Taken, bool) { return q.Take(Taken{}, Next{}, nil) }

// finish ends the work on what was taken, and tells whether it was dropped.
func (q *Queue) finish(taken Taken, next Next) (dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done(taken, next, func(deploy.Ref) { dropped = true })
	return dropped
}

// later sets the timer of a key that nobody has.
func (q *Queue) later(key deploy.Ref, after time.Duration, why request.Triggers) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.after(q.item(key), after, why)
}

// take hands out n keys, each done at once, and says why.
func take(t *testing.T, q *Queue, n int) (taken []string) {
	t.Helper()
	for range n {
		require.Positive(t, q.Len())
		got, ok := q.get()
		require.True(t, ok)
		taken = append(taken, got.Key.Name+": "+got.Triggers.String())
		q.finish(got, Next{})
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
	first, _ := q.get()
	q.Add(first.Key, request.Child)
	q.Add(key("b"), request.Listed)
	q.Add(first.Key, request.Deleting)
	assert.Equal(t, 2, q.Len())
	other, _ := q.get()
	assert.Equal(t, "b", other.Key.Name, "watch 9: a is worked on")
	q.finish(other, Next{})
	assert.Equal(t, 1, q.Len())
	q.finish(first, Next{})
	q.finish(first, Next{After: time.Minute})
	assert.Zero(t, q.State().Timers, "work ends once")
	assert.Equal(t, []string{"a: child,deleting"}, take(t, q, 1), "once more, for all of it")
	assert.Zero(t, q.Len())
}

func TestTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New()
		began := time.Now()
		next := func() (string, time.Duration) {
			taken, _ := q.get()
			q.finish(taken, Next{Unchanged: true})
			return taken.Key.Name + ": " + taken.Triggers.String(), time.Since(began)
		}
		q.later(key("a"), time.Hour, request.Periodic)
		q.later(key("a"), time.Minute, request.Retry)
		what, after := next()
		assert.Equal(t, "a: retry", what, "watch 14: one timer an object")
		assert.Equal(t, time.Minute, after)
		q.later(key("a"), time.Minute, request.Periodic)
		q.later(key("b"), 2*time.Minute, request.Periodic)
		q.Cancel(key("a"))
		q.Cancel(key("none"))
		what, after = next()
		assert.Equal(t, "b: periodic", what)
		assert.Equal(t, 3*time.Minute, after)
		q.Add(key("a"), request.Changed)
		taken, _ := q.get()
		q.finish(taken, Next{After: time.Hour, Why: request.Periodic})
		q.Add(key("a"), request.Changed)
		what, after = next()
		assert.Equal(t, "a: changed", what)
		assert.Equal(t, 3*time.Minute, after, "and it leaves the timer as it is")
		q.Add(key("a"), request.Changed)
		taken, _ = q.get()
		q.finish(taken, Next{After: time.Minute, Why: request.Retry})
		what, after = next()
		assert.Equal(t, "a: retry", what, "the next work on it sets another one")
		assert.Equal(t, 4*time.Minute, after)
		q.Add(key("a"), request.Changed)
		taken, _ = q.get()
		q.finish(taken, Next{After: time.Minute, Why: request.Retry})
		q.Add(key("a"), request.Changed)
		taken, _ = q.get()
		q.finish(taken, Next{})
		assert.Empty(t, q.items, "or none: nothing is kept for nobody")
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New()
		q.Add(key("a"), request.Changed)
		a, _ := q.get()
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				_, ok := q.get()
				assert.False(t, ok)
			})
		}
		synctest.Wait()
		q.Add(a.Key, request.Changed)
		q.later(key("b"), time.Minute, request.Periodic)
		q.Close()
		waiting.Wait()
		q.finish(a, Next{After: time.Second, Why: request.Changed})
		q.Add(key("c"), request.Changed)
		time.Sleep(time.Hour)
		_, ok := q.get()
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
	busy, wanted, got := map[deploy.Ref]bool{}, map[deploy.Ref]int{}, map[deploy.Ref]int{}
	var work sync.WaitGroup
	for range takers {
		work.Go(func() {
			var taken Taken
			for {
				var ok bool
				if taken, ok = q.Take(taken, Next{}, nil); !ok {
					return
				}
				mu.Lock()
				assert.False(t, busy[taken.Key], "one taker at a time")
				busy[taken.Key], got[taken.Key] = true, wanted[taken.Key]
				mu.Unlock()
				mu.Lock()
				busy[taken.Key] = false
				mu.Unlock()
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
	keys := make([]deploy.Ref, 10_000)
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, key := range keys {
			q.Add(key, request.Changed)
		}
		var taken Taken
		for range keys {
			taken, _ = q.Take(taken, Next{}, nil)
		}
		q.finish(taken, Next{})
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
			q.later(key("a"), time.Second, request.Periodic)
			q.Drop(key("a"))
		}, nil},
		"what somebody has, and has to be again": {func(t *testing.T, q *Queue) {
			q.Add(key("a"), request.Changed)
			a, _ := q.get()
			q.Add(a.Key, request.Changed)
			q.Drop(a.Key)
			assert.Zero(t, q.Len())
			assert.True(t, q.finish(a, Next{After: time.Second, Why: request.Periodic}), "and can't set a timer")
		}, nil},
		"what comes back meanwhile counts": {func(t *testing.T, q *Queue) {
			q.Add(key("a"), request.Changed)
			a, _ := q.get()
			q.Drop(a.Key)
			q.Add(a.Key, request.Listed)
			assert.True(t, q.finish(a, Next{After: time.Second, Why: request.Periodic}))
			again, _ := q.get()
			assert.Equal(t, request.Listed, again.Triggers)
			assert.False(t, q.finish(again, Next{After: time.Second, Why: request.Retry}))
		}, []string{"a: retry"}},
		"what nobody knows": {func(_ *testing.T, q *Queue) {
			q.Drop(key("a"))
			q.Cancel(key("a"))
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
		q.later(key("b"), time.Minute, request.Periodic)
		q.later(key("b"), time.Hour, request.Periodic)
		q.later(key("c"), time.Minute, request.Periodic)
		time.Sleep(time.Second)
		a, _ := q.get()
		taken := time.Now()
		time.Sleep(time.Second)
		q.Add(a.Key, request.Changed)
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
		_, _ = q.get()
		assert.Contains(t, q.State().Taken.String(), " m=")
	})
}

func TestLimit(t *testing.T) {
	t.Parallel()
	one := func(name string) deploy.Ref { return deploy.Ref{Kind: limited, Name: name} }
	limitedQueue := func() *Queue {
		q := New()
		q.Limit(limited.GroupKind(), 1)
		for _, name := range []string{"a", "b", "c"} {
			q.Add(one(name), request.Changed)
		}
		q.Add(key("other"), request.Listed)
		return q
	}
	t.Run("a kind at its limit lets others pass, and goes on in its order", func(t *testing.T) {
		t.Parallel()
		q := limitedQueue()
		first, _ := q.get()
		assert.Equal(t, "a", first.Key.Name)
		assert.Equal(t, []string{"other: listed"}, take(t, q, 1))
		assert.Equal(t, map[schema.GroupKind]int{limited.GroupKind(): 1}, q.State().Full)
		assert.Equal(t, 2, q.State().Waiting)
		q.Add(one("c"), request.Deleting)
		second, _ := q.Take(first, Next{}, nil)
		assert.Equal(t, "c", second.Key.Name, "what became more urgent meanwhile comes first")
		third, _ := q.Take(second, Next{}, nil)
		assert.Equal(t, "b", third.Key.Name)
		assert.Empty(t, q.State().Full)
	})
	t.Run("a kind may be held back as a whole, and let go", func(t *testing.T) {
		t.Parallel()
		q := limitedQueue()
		q.Limit(limited.GroupKind(), 0)
		assert.Equal(t, []string{"other: listed"}, take(t, q, 1))
		assert.Equal(t, 3, q.State().Waiting)
		q.Limit(limited.GroupKind(), math.MaxInt)
		assert.Equal(t, []string{"a: changed", "b: changed", "c: changed"}, take(t, q, 3))
	})
	t.Run("when the key is dropped that was let go, the next one is", func(t *testing.T) {
		t.Parallel()
		q := limitedQueue()
		first, _ := q.get()
		other, _ := q.get() // parks b and c
		q.Add(key("urgent"), request.Deleted)
		urgent, _ := q.Take(first, Next{}, nil) // b waits with the others again
		assert.Equal(t, "urgent", urgent.Key.Name)
		q.Drop(one("b"))
		last, _ := q.Take(other, Next{}, nil)
		assert.Equal(t, "c", last.Key.Name)
	})
	t.Run("what is called for a dropped key may call the queue", func(t *testing.T) {
		t.Parallel()
		q := New()
		q.Add(key("a"), request.Changed)
		first, _ := q.get()
		q.Drop(key("a"))
		second, _ := q.Take(first, Next{After: time.Hour}, func(dropped deploy.Ref) {
			q.Add(dropped, request.External)
			q.Add(key("b"), request.Deleted)
		})
		assert.Equal(t, "b", second.Key.Name)
		third, _ := q.get()
		assert.Equal(t, "a", third.Key.Name)
		assert.Zero(t, q.State().Timers)
	})
	t.Run("a parked key can be dropped", func(t *testing.T) {
		t.Parallel()
		q := limitedQueue()
		first, _ := q.get()
		take(t, q, 1)
		q.Drop(one("b"))
		second, _ := q.Take(first, Next{}, nil)
		assert.Equal(t, "c", second.Key.Name)
	})
	t.Run("a kind that is dropped leaves nothing, and its keys that are still taken don't count for the next limit", func(t *testing.T) {
		t.Parallel()
		q := limitedQueue()
		first, _ := q.get()
		q.DropKind(limited.GroupKind())
		assert.Equal(t, 1, q.State().Waiting, "another kind's")
		q.Limit(limited.GroupKind(), 1)
		q.Add(one("b"), request.Changed)
		second, _ := q.get()
		assert.Equal(t, "b", second.Key.Name)
		dropped := 0
		third, _ := q.Take(first, Next{After: time.Hour}, func(deploy.Ref) { dropped++ })
		assert.Equal(t, "other", third.Key.Name)
		assert.Equal(t, 1, dropped)
		assert.Zero(t, q.State().Timers)
	})
}
