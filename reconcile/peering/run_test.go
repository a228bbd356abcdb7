package peering_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPriorities(t *testing.T) {
	t.Run("peering 2, 7: the lower pauses at once, and goes on when the higher has ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			low := start(t, memory, "low", 0, func(_ *peering.Config, p *process) { p.windUp = time.Second })
			within(t, time.Second, low, true)
			high := start(t, memory, "high", 100)
			within(t, 10*time.Millisecond, high, true)
			assert.Less(t, within(t, 2*time.Second, low, false), 1100*time.Millisecond, "its work may wind up")
			time.Sleep(5 * time.Minute)
			assert.False(t, low.isWorking())
			high.stop()
			within(t, 10*time.Millisecond, low, true)
			assert.Equal(t, 2, low.begun)
			assert.Equal(t, []error{peering.ErrPaused}, low.causes)
			assert.Contains(t, low.log.String(), "this process pauses: another one has a higher priority")
			low.stop()
			assert.Zero(t, leases(memory), "no Lease is left")
		})
	})
	t.Run("peering 4, 8: it goes on when the Lease of a killed one has run out, which is deleted", func(t *testing.T) {
		for _, skew := range []time.Duration{0, time.Hour, -time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				memory := newMemory(t)
				low := start(t, memory, "low", 0)
				high := start(t, memory, "high", 100, func(_ *peering.Config, p *process) { p.skew = skew })
				within(t, time.Second, high, true)
				time.Sleep(time.Minute)
				assert.False(t, low.isWorking(), "whatever the clocks say")
				high.set(func(w *wire) { w.down = true })
				took := within(t, 15*time.Second, low, true)
				assert.Greater(t, took, 12*time.Second)
				assert.Equal(t, 1, leases(memory))
				high.set(func(w *wire) { w.down = false })
				within(t, 4*time.Second, high, true)
				within(t, time.Second, low, false)
			})
		}
	})
	t.Run("peering 3: equal ones all pause and say so, until one of them has ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			first := start(t, memory, "first", 7)
			within(t, time.Second, first, true)
			second := start(t, memory, "second", 7)
			within(t, time.Second, first, false)
			time.Sleep(5 * time.Minute)
			assert.False(t, second.isWorking())
			assert.Zero(t, second.begun)
			for _, p := range []*process{first, second} {
				assert.Contains(t, p.log.String(), "level=WARN msg=\"this process pauses: another one has the same priority, so none of them works\"")
			}
			first.stop()
			within(t, time.Second, second, true)
		})
	})
	t.Run("peering 6: a new leader doesn't wait for the one before it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			killed := start(t, memory, "killed", 7, leads("shop/op"))
			within(t, time.Second, killed, true)
			killed.set(func(w *wire) { w.down = true })
			next := start(t, memory, "next", 7, leads("shop/op"))
			within(t, 10*time.Millisecond, next, true)
			time.Sleep(16 * time.Second)
			assert.Equal(t, 1, leases(memory), "whose Lease is deleted when it has run out")
			other := start(t, memory, "other", 7, leads("shop/two"))
			within(t, time.Second, next, false)
			assert.False(t, other.isWorking())
		})
	})
}

func TestUnseen(t *testing.T) {
	t.Run("peering 9: who can't renew its Lease stops at once, and goes on when it can", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := start(t, newMemory(t), "p", 0, func(_ *peering.Config, p *process) { p.windUp = time.Hour })
			within(t, time.Second, p, true)
			p.set(func(w *wire) { w.down = true })
			took := within(t, 10*time.Second, p, false)
			assert.Greater(t, took, 7*time.Second)
			assert.Equal(t, 1, p.lost, "without a grace time")
			require.ErrorIs(t, p.causes[0], leader.ErrLost)
			p.set(func(w *wire) { w.down = false })
			within(t, 4*time.Second, p, true)
		})
	})
	t.Run("peering 8: a pause lasts while it isn't known whether the other one is gone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			low := start(t, memory, "low", 0)
			high := start(t, memory, "high", 1)
			within(t, time.Second, low, false)
			low.set(func(w *wire) { w.blind = true })
			time.Sleep(5 * time.Minute)
			assert.False(t, low.isWorking(), "the other one goes on renewing its Lease")
			high.stop()
			within(t, 20*time.Second, low, true)
		})
	})
	t.Run("the loss of the leadership is passed on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			p, err := peering.New(memory, peering.Config{Group: group, Timing: leader.Timing(0, 0, 0)})
			require.NoError(t, err)
			lost := make(chan struct{})
			ctx, cancel := context.WithCancel(leader.WithTerm(t.Context(), leader.Term{Holder: "me", Number: 3, Lost: lost}))
			defer cancel()
			require.NoError(t, p.Run(ctx, func(ctx context.Context) error {
				got, _ := leader.TermOf(ctx)
				assert.Equal(t, "me", got.Holder)
				assert.EqualValues(t, 3, got.Number)
				close(lost)
				<-got.Lost
				return nil
			}))
		})
	})
	t.Run("the work's own end is the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			p, err := peering.New(memory, peering.Config{Group: group})
			require.NoError(t, err)
			failed := errors.New("out of cheese")
			require.ErrorIs(t, p.Run(t.Context(), func(context.Context) error { return failed }), failed)
			assert.Zero(t, leases(memory))
		})
	})
}

func TestFreeze(t *testing.T) {
	t.Run("peering 5: a freeze stops all until it is thawed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			p := start(t, memory, "p", 1000)
			within(t, time.Second, p, true)
			require.NoError(t, group.Freeze(t.Context(), memory.Port(), "me@here", time.Hour))
			within(t, 10*time.Millisecond, p, false)
			time.Sleep(30 * time.Minute)
			assert.False(t, p.isWorking())
			was, err := group.Thaw(t.Context(), memory.Port())
			require.NoError(t, err)
			assert.True(t, was)
			within(t, 10*time.Millisecond, p, true)
			was, err = group.Thaw(t.Context(), memory.Port())
			require.NoError(t, err)
			assert.False(t, was)
		})
	})
	t.Run("peering 5, 10: it ends, also for a process that has started later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			p := start(t, memory, "p", 0, leads("shop/op"))
			require.NoError(t, group.Freeze(t.Context(), memory.Port(), "me@here", 10*time.Minute))
			time.Sleep(9 * time.Minute)
			late := start(t, memory, "late", 0, leads("shop/op"))
			assert.False(t, late.isWorking())
			time.Sleep(time.Minute - 2*time.Second)
			assert.False(t, p.isWorking())
			assert.False(t, late.isWorking())
			within(t, 3*time.Second, p, true)
			within(t, time.Second, late, true)
			assert.Equal(t, 2, leases(memory), "its Lease is deleted")
		})
	})
	t.Run("peering 5: the later freeze counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			p := start(t, memory, "p", 0)
			require.NoError(t, group.Freeze(t.Context(), memory.Port(), "me@here", time.Hour))
			require.NoError(t, group.Freeze(t.Context(), memory.Port(), "me@here", time.Minute))
			time.Sleep(50 * time.Second)
			assert.False(t, p.isWorking())
			within(t, 12*time.Second, p, true)
		})
	})
	for _, lasts := range []time.Duration{0, -time.Second, peering.LongestFreeze + 1} {
		require.Error(t, group.Freeze(t.Context(), newMemory(t).Port(), "me", lasts))
	}
}

func TestCost(t *testing.T) {
	t.Run("peering 11: a renewal each retry period, and nothing else", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			low, high := start(t, memory, "low", 0), start(t, memory, "high", 1)
			within(t, time.Second, high, true)
			before := [2]int{len(low.since(0)), len(high.since(0))}
			time.Sleep(time.Minute)
			for i, p := range []*process{low, high} {
				calls := p.since(before[i])
				assert.InDelta(t, 28, len(calls), 4)
				for _, call := range calls {
					assert.Equal(t, "update", call)
				}
			}
		})
	})
	t.Run("peering 11: requests that fail aren't repeated without a pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := newMemory(t)
			killed, p := start(t, memory, "killed", 0), start(t, memory, "p", 1)
			within(t, time.Second, p, true)
			killed.set(func(w *wire) { w.down = true })
			time.Sleep(9 * time.Second)
			p.set(func(w *wire) { w.down = true })
			before := len(p.since(0))
			time.Sleep(time.Minute)
			assert.Less(t, len(p.since(before)), 120)
			p.set(func(w *wire) { w.down = false })
			within(t, 5*time.Second, p, true)
			time.Sleep(time.Minute)
			assert.Equal(t, 1, leases(memory))
		})
	})
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	memory := newMemory(t)
	for reason, row := range map[string]struct {
		config peering.Config
		want   string
	}{
		"no name":                 {peering.Config{Group: peering.Group{Namespace: "shop"}}, `operator ""`},
		"a name that is no label": {peering.Config{Group: peering.Group{Operator: "a b", Namespace: "shop"}}, `operator "a b"`},
		"no namespace":            {peering.Config{Group: peering.Group{Operator: "op"}}, "namespace"},
	} {
		_, err := peering.New(memory, row.config)
		require.ErrorContains(t, err, row.want, reason)
	}
	for text, want := range map[string]int{"0": 0, "-5": -5, "2147483647": 1<<31 - 1} {
		got, err := peering.ParsePriority(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "high", "1.5", "2147483648", " 1"} {
		_, err := peering.ParsePriority(text)
		require.ErrorContains(t, err, "use a whole number", text)
	}
	t.Run("peering 1: without peers everything is as before", func(t *testing.T) {
		var none *peering.Peering
		called := false
		require.NoError(t, none.Run(t.Context(), func(context.Context) error { called = true; return nil }))
		assert.True(t, called)
		assert.Equal(t, http.DefaultTransport, none.Transport(http.DefaultTransport))
	})
}
