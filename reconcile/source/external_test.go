package source

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
)

// running runs an External in a time that passes at once, until the test ends.
func running(t *testing.T, to *target, external External, test func(next func() (brought, failed []string))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			external.Run(ctx, to)
		}()
		first := true
		test(func() ([]string, []string) {
			if !first {
				time.Sleep(time.Minute)
			}
			first = false
			synctest.Wait()
			brought, failed := to.taken()
			slices.Sort(brought)
			return brought, failed
		})
		cancel()
		<-ended
	})
}

func TestChannel(t *testing.T) {
	t.Parallel()
	t.Run("what comes is brought, until the channel is closed", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			keys, to := make(chan deploy.Ref), &target{}
			go func() {
				keys <- key("a")
				keys <- key("b")
				close(keys)
			}()
			Channel(keys).Run(t.Context(), to)
			brought, _ := to.taken()
			assert.Equal(t, []string{"a", "b"}, brought)
		})
	})
	t.Run("it ends with its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		Channel(make(chan deploy.Ref)).Run(ctx, &target{})
	})
	t.Run("and so does a function", func(t *testing.T) {
		t.Parallel()
		to := &target{}
		Func(func(_ context.Context, target Target) { target.Bring(key("a")) }).Run(t.Context(), to)
		brought, _ := to.taken()
		assert.Equal(t, []string{"a"}, brought)
	})
}

func TestPoll(t *testing.T) {
	t.Parallel()
	values, fails := map[deploy.Ref]int{}, error(nil)
	var panics any
	var mu sync.Mutex // for the race detector: what happens is done while nobody fetches
	external := Poll(time.Minute, func(context.Context) (map[deploy.Ref]int, error) {
		mu.Lock()
		defer mu.Unlock()
		if panics != nil {
			panic(panics)
		}
		return values, fails
	})
	running(t, &target{}, external, func(next func() ([]string, []string)) {
		for _, row := range []struct {
			reason          string
			happens         func()
			brought, failed []string
		}{
			{"the first time all", func() { values[key("a")], values[key("b")] = 1, 1 }, []string{"a", "b"}, nil},
			{"nothing is nothing", func() {}, nil, nil},
			{"a value that changed, in a map that is used again", func() { values[key("a")] = 2 }, []string{"a"}, nil},
			{"one that came, one that went", func() { values[key("c")] = 0; delete(values, key("b")) }, []string{"b", "c"}, nil},
			{"an error leaves what is known", func() { fails = errors.New("refused"); values = maps.Clone(values); clear(values) }, nil, []string{"poll: refused"}},
			{"the same error is told once", func() {}, nil, nil},
			{"another one is another one", func() { fails = errors.New("timeout") }, nil, []string{"poll: timeout"}},
			{"watch mistake 12: a panic is an error", func() { panics = "boom" }, nil, []string{"poll: panic: boom (external_test.go)"}},
			{"and once it answers what differs is brought", func() { fails, panics = nil, nil; values[key("a")] = 2 }, []string{"c"}, nil},
			{"the same error again is news", func() { fails = errors.New("timeout") }, nil, []string{"poll: timeout"}},
		} {
			mu.Lock()
			row.happens()
			mu.Unlock()
			brought, failed := next()
			assert.Equal(t, row.brought, brought, row.reason)
			assert.Equal(t, row.failed, failed, row.reason)
		}
	})
}

func TestPollEnds(t *testing.T) {
	t.Parallel()
	t.Run("an answer that comes after the end brings nobody, and its error is none", func(t *testing.T) {
		t.Parallel()
		for _, fails := range []error{nil, errors.New("late")} {
			ctx, cancel := context.WithCancel(t.Context())
			to := &target{known: []deploy.Ref{key("a")}}
			Poll(time.Minute, func(context.Context) (map[deploy.Ref]int, error) {
				cancel()
				return map[deploy.Ref]int{key("a"): 1}, fails
			}).Run(ctx, to)
			PollEach(time.Minute, func(context.Context, deploy.Ref) (int, error) { return 1, fails }).Run(ctx, to)
			ctx, cancel = context.WithCancel(t.Context())
			PollEach(time.Minute, func(context.Context, deploy.Ref) (int, error) {
				cancel()
				return 1, fails
			}).Run(ctx, to)
			brought, failed := to.taken()
			assert.Empty(t, brought)
			assert.Empty(t, failed)
		}
	})
	t.Run("watch mistake 25: the interval begins when the last answer has come", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int32
		slow := Poll(time.Minute, func(context.Context) (map[deploy.Ref]int, error) {
			calls.Add(1)
			time.Sleep(time.Hour)
			return nil, nil
		})
		running(t, &target{}, slow, func(next func() ([]string, []string)) {
			for range 182 { // a minute less than the third begins
				next()
			}
			assert.Equal(t, int32(3), calls.Load())
		})
	})
}

func TestPollEach(t *testing.T) {
	t.Parallel()
	values, fails := map[string]int{"a": 1, "b": 1, "c": 1}, map[string]error{}
	known := &target{known: []deploy.Ref{key("a"), key("b"), key("c")}}
	know := func(to *target, name string) {
		to.mu.Lock()
		defer to.mu.Unlock()
		to.known = []deploy.Ref{key("a"), key("b"), key(name)}
	}
	var mu sync.Mutex
	external := PollEach(time.Minute, func(_ context.Context, key deploy.Ref) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if values[key.Name] < 0 {
			panic("boom")
		}
		return values[key.Name], fails[key.Name]
	})
	running(t, known, external, func(next func() ([]string, []string)) {
		for _, row := range []struct {
			reason          string
			happens         func()
			brought, failed []string
		}{
			{"the first time all", func() {}, []string{"a", "b", "c"}, nil},
			{"nothing is nothing", func() {}, nil, nil},
			{"a value that changed", func() { values["a"] = 2 }, []string{"a"}, nil},
			{"an error of two for one reason is told once, and holds up nobody", func() {
				fails["a"], fails["b"] = errors.New("refused"), errors.New("refused")
				values["c"] = 2
			}, []string{"c"}, []string{"poll of  shop/a: refused"}},
			{"and not again", func() {}, nil, nil},
			{"watch mistake 12: a panic is an error", func() { values["c"] = -1 }, nil, []string{"poll of  shop/c: panic: boom (external_test.go)"}},
			{"what is known stays known", func() { clear(fails); values["c"] = 2; values["b"] = 3 }, []string{"b"}, nil},
			{"one that is known no longer is forgotten", func() { know(known, "d"); values["d"] = 1 }, []string{"d"}, nil},
			{"and new when it comes back", func() { know(known, "c") }, []string{"c"}, nil},
		} {
			mu.Lock()
			row.happens()
			mu.Unlock()
			brought, failed := next()
			assert.Equal(t, row.brought, brought, row.reason)
			assert.Equal(t, row.failed, failed, row.reason)
		}
	})
}
