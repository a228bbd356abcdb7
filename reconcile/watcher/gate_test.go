package watcher

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestGate(t *testing.T) {
	t.Parallel()
	t.Run("watcher 69: the first one in the line is the next one, and whoever comes meanwhile waits", func(t *testing.T) {
		t.Parallel()
		g := newGate(1)
		assert.True(t, g.enter(ref("a")))
		assert.False(t, g.enter(ref("b")))
		assert.False(t, g.enter(ref("c")))
		assert.False(t, g.enter(ref("b")), "it keeps its place")
		assert.Equal(t, []deploy.Ref{ref("b")}, g.leave())
		assert.False(t, g.enter(ref("d")), "the place is kept")
		assert.Equal(t, []deploy.Ref{ref("c")}, g.quit(ref("b")), "one that was invited and doesn't come")
		assert.Empty(t, g.quit(ref("d")))
		assert.True(t, g.enter(ref("c")))
		assert.Empty(t, g.leave())
		assert.True(t, g.enter(ref("e")))
	})
	t.Run("watcher 69: a line ends with its engine, and the places that were kept are free", func(t *testing.T) {
		t.Parallel()
		var all gates
		m := &member{limit: 1}
		g := all.of(m)
		assert.True(t, g.enter(ref("a")))
		assert.False(t, g.enter(ref("b")))
		assert.False(t, g.enter(ref("c")))
		g.leave()
		all.reset()
		assert.Same(t, g, all.of(m))
		assert.True(t, g.enter(ref("d")))
		assert.False(t, g.enter(ref("c")))
		all.remove(m)
		assert.NotSame(t, g, all.of(m))
	})
	t.Run("watcher 69: at random, nobody is forgotten, and never more are in than there are places", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(200) {
			random := rand.New(rand.NewPCG(seed, 0))
			places := 1 + random.IntN(3)
			g, inside, invited := newGate(places), map[deploy.Ref]bool{}, []deploy.Ref(nil)
			for range 200 {
				one := ref(fmt.Sprint(random.IntN(8)))
				switch {
				case inside[one]:
					delete(inside, one)
					invited = append(invited, g.leave()...)
				case random.IntN(3) == 0:
					leaves := []func(deploy.Ref) []deploy.Ref{g.quit, g.decline}[random.IntN(2)]
					invited = slices.DeleteFunc(invited, func(r deploy.Ref) bool { return r == one })
					invited = append(invited, leaves(one)...)
				case g.enter(one):
					inside[one] = true
					invited = slices.DeleteFunc(invited, func(r deploy.Ref) bool { return r == one })
				}
				require.LessOrEqual(t, len(inside)+len(invited), places, "seed %d", seed)
				require.Equal(t, places, g.free+len(inside)+len(invited), "seed %d", seed)
			}
			for len(inside)+len(invited) > 0 {
				for one := range inside {
					invited = append(invited, g.leave()...)
					delete(inside, one)
				}
				for _, one := range invited {
					require.True(t, g.enter(one))
					inside[one] = true
				}
				invited = nil
			}
			require.Empty(t, g.waiting, "seed %d", seed)
			require.Zero(t, g.line.Len(), "seed %d", seed)
		}
	})
}

// TestConcurrency has more objects than a slow watcher takes at a time.
func TestConcurrency(t *testing.T) {
	t.Run("watcher 69: an object that waits occupies no worker, and its call has the time of a reconcile", func(t *testing.T) {
		synctest.Test(t, testConcurrency)
	})
	t.Run("watcher 69: an object that goes before its turn holds up nobody", func(t *testing.T) { synctest.Test(t, testGoneInLine) })
	t.Run("watcher 69: no time is set for an object that waits", testNoTime)
	t.Run("watcher 69: the later watchers of an object wait with it, and a removed one holds up nobody", func(t *testing.T) {
		synctest.Test(t, testRemovedGate)
	})
}

const perCall = 8 * time.Second

// slowly returns a watcher whose Add calls f, and takes perCall.
func slowly(f func(ctx context.Context)) Watcher[unstructured.Unstructured] {
	return Simple(Funcs[unstructured.Unstructured]{Add: func(ctx context.Context, _ *unstructured.Unstructured) error {
		f(ctx)
		select {
		case <-time.After(perCall):
		case <-ctx.Done():
		}
		return ctx.Err()
	}})
}

func testConcurrency(t *testing.T) {
	var mu sync.Mutex
	var left []time.Duration
	failed, free := 0, map[string]time.Duration{}
	var w *world
	watchers := New[unstructured.Unstructured](items, OnError(func(context.Context, Failure) {
		mu.Lock()
		defer mu.Unlock()
		failed++
	}), Add("free", Simple(Funcs[unstructured.Unstructured]{Add: func(_ context.Context, o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		free[o.GetName()] = time.Since(w.begin)
		return nil
	}})))
	w = newWorld(t, watchers, watch.Workers(2), watch.Timeout(10*time.Second))
	_, err := watchers.Add(Add("slow", slowly(func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		mu.Lock()
		defer mu.Unlock()
		left = append(left, time.Until(deadline))
	}), Concurrency(1)))
	require.NoError(t, err)
	for i := range 10 {
		w.create(fmt.Sprint("o", i))
	}
	time.Sleep(10*perCall + time.Second)
	mu.Lock()
	assert.Len(t, left, 10)
	for _, d := range left {
		assert.InDelta(t, 10*time.Second, d, float64(10*time.Millisecond))
	}
	assert.Zero(t, failed)
	assert.Len(t, free, 10)
	for name, after := range free {
		assert.Less(t, after, time.Second, name)
	}
	mu.Unlock()
	w.stop()
}

func testRemovedGate(t *testing.T) {
	var mu sync.Mutex
	later := map[string]time.Duration{}
	var w *world
	watchers := New[unstructured.Unstructured](items)
	w = newWorld(t, watchers, watch.Workers(4), watch.Timeout(10*time.Second))
	slow, err := watchers.Add(Add("slow", slowly(func(context.Context) {}), Concurrency(1)))
	require.NoError(t, err)
	_, err = watchers.Add(Add("later", Simple(Funcs[unstructured.Unstructured]{Add: func(_ context.Context, o *unstructured.Unstructured) error {
		mu.Lock()
		defer mu.Unlock()
		later[o.GetName()] = time.Since(w.begin).Round(time.Second)
		return nil
	}})))
	require.NoError(t, err)
	for i := range 5 {
		w.create(fmt.Sprint("o", i))
	}
	time.Sleep(2*perCall + time.Second)
	mu.Lock()
	assert.Len(t, later, 2)
	mu.Unlock()
	slow.Remove()
	time.Sleep(time.Second)
	mu.Lock()
	assert.Len(t, later, 4, "all but the one of the call that runs")
	mu.Unlock()
	time.Sleep(perCall)
	mu.Lock()
	assert.Len(t, later, 5)
	mu.Unlock()
	w.stop()
}

func testGoneInLine(t *testing.T) {
	var mu sync.Mutex
	var called []string
	watchers := New[unstructured.Unstructured](items, Concurrency(1), Add("slow", Simple(Funcs[unstructured.Unstructured]{
		Add: func(_ context.Context, o *unstructured.Unstructured) error {
			time.Sleep(perCall)
			mu.Lock()
			defer mu.Unlock()
			called = append(called, o.GetName())
			return nil
		},
	})))
	w := newWorld(t, watchers, watch.Workers(4))
	for _, name := range []string{"a", "b", "c"} {
		w.create(name)
		time.Sleep(time.Second)
	}
	w.delete("b")
	time.Sleep(3 * perCall)
	mu.Lock()
	assert.Equal(t, []string{"a", "c"}, called)
	mu.Unlock()
	w.stop()
}

// testNoTime has a gate that is full, and a later watcher whose call is due.
func testNoTime(t *testing.T) {
	p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}})
	p.add(Add("limited", p.watcher(map[string]any{"name": "limited"}), Concurrency(1)), "limited")
	p.add(Add("later", p.watcher(map[string]any{"name": "later"})), "later")
	target := brought{}
	require.NoError(t, p.made().start(t.Context(), &target))
	g := p.made().gates.of(p.made().roster.list()[0])
	require.True(t, g.enter(ref("other")))
	object := p.object(map[string]any{"name": "a", "namespace": "default", "generation": int64(1)})
	p.sees(ref("a"), added(object), object)
	assert.Empty(t, p.calls)
	assert.Empty(t, p.due, "it is brought when its turn has come")
	assert.Equal(t, standing.Waiting, onlyStanding(p))
	p.made().bring(g.leave())
	assert.Equal(t, []deploy.Ref{ref("a")}, target.refs)
	p.pass(ref("a"))
	assert.Len(t, p.calls, 2)
	assert.Equal(t, 1, g.free)
	assert.Equal(t, standing.Settled, onlyStanding(p))
}

// onlyStanding returns how the only object stands.
func onlyStanding(p *play) standing.Standing {
	for how := range p.made().Tally().Resources {
		return how
	}
	return ""
}
