package watcher_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/stretchr/testify/assert"
)

func TestExponential(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		initial time.Duration
		max     int
		attempt int
		after   time.Duration
		again   bool
	}{
		{"watcher 8: the first failure", time.Second, 2, 0, time.Second, true},
		{"watcher 8: it doubles", time.Second, 2, 1, 2 * time.Second, true},
		{"watcher 8: and ends", time.Second, 2, 2, 0, false},
		{"watcher 8: none", time.Second, 0, 0, 0, false},
		{"watcher 8: less than none", time.Second, -1, 0, 0, false},
		{"watcher 9: no longer than a day", time.Hour, math.MaxInt, 5, watcher.LongestDelay, true},
		{"watcher 9: whatever the number", time.Nanosecond, math.MaxInt, 10_000, watcher.LongestDelay, true},
		{"watcher 9: the longest time", math.MaxInt64, 2, 1, watcher.LongestDelay, true},
		{"watcher 9: a number that makes no sense", time.Second, 2, -7, time.Second, true},
		{"watcher 9: a time that makes none", -time.Second, 2, 1, 0, true},
		{"watcher 9: no time", 0, 2, 1, 0, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			after, again := watcher.Exponential(row.initial, row.max)(nil, row.attempt)
			assert.Equal(t, row.after, after)
			assert.Equal(t, row.again, again)
		})
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	t.Run("watcher 77: each delay is longer by a random part, and the tries stay as they are", func(t *testing.T) {
		t.Parallel()
		policy := watcher.Jitter(watcher.Exponential(10*time.Second, 2), 0.2)
		seen := map[time.Duration]bool{}
		for range 1000 {
			after, again := policy(nil, 1)
			assert.True(t, again)
			assert.GreaterOrEqual(t, after, 20*time.Second)
			assert.LessOrEqual(t, after, 24*time.Second)
			seen[after.Round(time.Second)] = true
		}
		assert.Len(t, seen, 5, "all over the span")
		_, again := policy(nil, 2)
		assert.False(t, again)
	})
	for _, row := range []struct {
		reason  string
		initial time.Duration
		factor  float64
		want    time.Duration
	}{
		{"no factor", time.Second, 0, time.Second},
		{"a factor that makes no sense", time.Second, -1, time.Second},
		{"a factor that is none", time.Second, math.NaN(), time.Second},
		{"the longest delay stays it", 2 * watcher.LongestDelay, 5, watcher.LongestDelay},
		{"also with the largest factor", watcher.LongestDelay, math.Inf(1), watcher.LongestDelay},
		{"no time", 0, 1, 0},
	} {
		t.Run("watcher 77: "+row.reason, func(t *testing.T) {
			t.Parallel()
			after, again := watcher.Jitter(watcher.Exponential(row.initial, 1), row.factor)(nil, 0)
			assert.Equal(t, row.want, after)
			assert.True(t, again)
		})
	}
	t.Run("watcher 77: nil stays nil", func(t *testing.T) {
		t.Parallel()
		assert.Nil(t, watcher.Jitter(nil, 0.2))
	})
}

func TestListMap(t *testing.T) {
	t.Parallel()
	is := func(want string) func(string) bool { return func(item string) bool { return item == want } }
	t.Run("watcher 30: an index that isn't there is none", func(t *testing.T) {
		t.Parallel()
		l := watcher.NewListMap[string, string]()
		l.RemoveItemAt("k", 0)
		l.AddItem("k", "a")
		for _, index := range []int{-1, 1} {
			_, ok := l.ItemAt("k", index)
			assert.False(t, ok)
			l.RemoveItemAt("k", index)
		}
		assert.Equal(t, 1, l.KeySize("k"))
	})
	t.Run("watcher 30: a key goes with its last item", func(t *testing.T) {
		t.Parallel()
		for _, remove := range []func(l *watcher.ListMap[string, string]){
			func(l *watcher.ListMap[string, string]) { l.RemoveItemAt("k", 0) },
			func(l *watcher.ListMap[string, string]) { l.RemoveItem("k", is("a")) },
			func(l *watcher.ListMap[string, string]) { l.RemoveItems("k", is("a"), 0) },
			func(l *watcher.ListMap[string, string]) { l.RemoveKey("k") },
		} {
			var l watcher.ListMap[string, string]
			l.AddItem("k", "a")
			remove(&l)
			assert.Empty(t, l.Keys())
		}
	})
	t.Run("watcher 30: a loop sees what was there at its begin", func(t *testing.T) {
		t.Parallel()
		var l watcher.ListMap[string, string]
		l.AddItem("k", "a", "b", "c")
		var seen []string
		l.RangeAll(func(key string, _ int, item string) {
			seen = append(seen, item)
			l.RemoveItem(key, is(item))
			l.AddItem("other", item)
		})
		assert.Equal(t, []string{"a", "b", "c"}, seen)
		assert.Equal(t, []string{"other"}, l.Keys())
		for _, items := range l.All() {
			items[0] = "changed"
			break
		}
		item, _ := l.ItemAt("other", 0)
		assert.Equal(t, "a", item)
	})
	t.Run("watcher 30: several goroutines", func(t *testing.T) {
		t.Parallel()
		var l watcher.ListMap[int, int]
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 100 {
					l.AddItem(j%3, i)
					l.Range(j%3, func(int, int) {})
					l.RemoveItem(j%3, func(item int) bool { return item == i })
				}
			})
		}
		all.Wait()
		assert.Zero(t, l.Size())
	})
}
