package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storm is how many events come at once.
const storm = 50_000

func TestBurst(t *testing.T) {
	t.Run("watcher 27: of 50 000 events of one object a watcher sees some, in their order, and the last state", testBurst)
}

func testBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen [][2]int64
		watchers := New[unstructured.Unstructured](items, Add("w", Simple(Funcs[unstructured.Unstructured]{
			Update: func(_ context.Context, old, o *unstructured.Unstructured) error {
				time.Sleep(time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, [2]int64{old.GetGeneration(), o.GetGeneration()})
				return nil
			},
		})))
		view := &pushedView{handle: make(chan func(deploy.Event), 1)}
		stop := runEngine(t, view, watchers)
		handle := <-view.handle
		last := view.push(1)
		handle(added(last))
		time.Sleep(time.Second)
		before, most := heapInUse(), int64(0)
		for i := range storm {
			next := view.push(int64(i + 2))
			handle(modified(last, next))
			last = next
			if i%1000 == 999 {
				most = max(most, heapInUse()-before)
				time.Sleep(10 * time.Millisecond)
			}
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		size := int64(1)
		for _, one := range seen {
			assert.Equal(t, size, one[0], "old is what was seen before")
			assert.Greater(t, one[1], size, "in their order")
			size = one[1]
		}
		assert.EqualValues(t, storm+1, size, "the last state")
		after := heapInUse() - before
		t.Logf("BURST watcher: %d events, %d calls, at most %d kB more heap, %d kB after it", storm, len(seen), most>>10, after>>10)
		assert.Less(t, most, int64(2<<20), "what waits is merged")
		assert.Less(t, after, int64(256<<10), "and nothing is left of it")
		stop()
	})
}

// pushedView is a View of one object, whose events the test pushes.
type pushedView struct {
	deploy.View
	object atomic.Pointer[unstructured.Unstructured]
	handle chan func(deploy.Event)
}

func (v *pushedView) Get(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
	return v.object.Load(), nil
}

// Subscribe implements deploy.View.
func (v *pushedView) Subscribe(_ context.Context, _ schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	v.handle <- handle
	return v, nil
}

// Synced implements deploy.Subscription.
func (v *pushedView) Synced(context.Context) error { return nil }

// push sets the state of the object.
func (v *pushedView) push(generation int64) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": generation}}}
	o.SetGroupVersionKind(items)
	o.SetNamespace("default")
	o.SetName("a")
	o.SetUID("a")
	o.SetGeneration(generation)
	o.SetResourceVersion(fmt.Sprint(generation))
	v.object.Store(o)
	return o
}

// pushedCluster has a View of its own.
type pushedCluster struct {
	deploy.Cluster
	view deploy.View
}

func (c pushedCluster) View() deploy.View { return c.view }

// runEngine runs watchers on a View, until stop is called.
func runEngine(t *testing.T, view deploy.View, watchers *Watchers[unstructured.Unstructured]) (stop func()) {
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	manager, err := deploy.NewManager(pushedCluster{memory, view})
	require.NoError(t, err)
	quiet := slog.New(slog.DiscardHandler)
	reconciler, err := watchers.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: quiet, Now: time.Now})
	require.NoError(t, err)
	engine, err := watch.New(view, watch.Logger(quiet))
	require.NoError(t, err)
	require.NoError(t, engine.Control(items, reconciler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func heapInUse() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestPending gives the events to the reconciler alone, as no engine takes part of them.
func TestPending(t *testing.T) {
	t.Run("watcher 27: what is left to do takes no more memory the more events come", func(t *testing.T) {
		p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}, "watchers": []any{map[string]any{"name": "w"}}})
		object := func(i int) *unstructured.Unstructured {
			return p.object(map[string]any{"name": "a", "namespace": "default", "generation": int64(i)})
		}
		p.happens(0, map[string]any{"event": "add", "object": map[string]any{"name": "a", "namespace": "default", "generation": int64(1)}})
		before, state := heapInUse(), object(1)
		for i := range storm {
			next := object(i + 2)
			p.reconciler.(watch.Observer).Observe(modified(state, next))
			state = next
		}
		grown := heapInUse() - before
		t.Logf("BURST watcher: %d events that wait take %d bytes", storm, grown)
		assert.Less(t, grown, int64(64<<10))
		p.objects[ref("a")] = state
		p.calls = nil
		p.pass(ref("a"))
		require.Len(t, p.calls, 1)
		assert.Equal(t, []int64{1, storm + 1}, []int64{p.calls[0].old, p.calls[0].generation})
		runtime.KeepAlive(p)
	})
	t.Run("watcher 27: a settled object costs a few words, and one that is gone nothing", func(t *testing.T) {
		const objects = 10_000
		p := newPlay(t, map[string]any{"policy": map[string]any{"kind": "nil"}, "watchers": []any{map[string]any{"name": "w"}, map[string]any{"name": "v"}}})
		p.quiet = true
		for i := range objects {
			o := p.object(map[string]any{"name": fmt.Sprint("o", i), "namespace": "default", "generation": int64(1)})
			p.objects[refOf(o)] = o
		}
		before := heapInUse()
		for _, o := range p.objects {
			p.reconciler.(watch.Observer).Observe(added(o))
			p.pass(refOf(o))
		}
		each := (heapInUse() - before) / objects
		t.Logf("MEMORY watcher: %d bytes for each settled object", each)
		assert.Less(t, each, int64(700))
		for _, o := range slices.Collect(maps.Values(p.objects)) {
			p.objects[refOf(o)] = nil
			p.reconciler.(watch.Observer).Observe(deleted(o))
			p.reconciler.(watch.Forgetter).Forget(refOf(o))
			p.pass(refOf(o))
		}
		assert.Empty(t, p.reconciler.(*dispatcher).objects.entries)
	})
}

// TestNeverTwoAtOnce lets many objects change while their watchers work, fail and are repeated.
func TestNeverTwoAtOnce(t *testing.T) {
	for _, workers := range []int{1, 8} {
		t.Run(fmt.Sprintf("watcher 22: there is never more than one call for an object, with %d workers", workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testNeverTwo(t, workers) })
		})
	}
}

func testNeverTwo(t *testing.T, workers int) {
	const objects, changes, limit = 20, 300, 3
	random := rand.New(rand.NewPCG(1, uint64(workers)))
	var mu sync.Mutex
	running := map[string]int{}
	inWatcher, most, together, calls := map[string]int{}, map[string]int{}, 0, 0
	roll := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	work := func(watcher string) func(ctx context.Context, o *unstructured.Unstructured) error {
		return func(_ context.Context, o *unstructured.Unstructured) error {
			mu.Lock()
			running[o.GetName()]++
			inWatcher[watcher]++
			calls++
			most[watcher] = max(most[watcher], inWatcher[watcher])
			together = max(together, running[o.GetName()])
			mu.Unlock()
			time.Sleep(time.Duration(roll(2000)) * time.Millisecond)
			mu.Lock()
			running[o.GetName()]--
			inWatcher[watcher]--
			mu.Unlock()
			if roll(3) == 0 {
				return errors.New("not yet")
			}
			return nil
		}
	}
	add := func(name string, opts ...Option) Option {
		f := work(name)
		return Add(name, Simple(Funcs[unstructured.Unstructured]{
			Add: f, Delete: f, Update: func(ctx context.Context, _, o *unstructured.Unstructured) error { return f(ctx, o) },
		}), opts...)
	}
	watchers := New[unstructured.Unstructured](items, Retry(Exponential(time.Second, 10)), add("free"), add("limited", Concurrency(limit)))
	w := newWorld(t, watchers, watch.Workers(workers))
	there := map[string]bool{}
	for range changes {
		name := fmt.Sprint("o", roll(objects))
		switch {
		case !there[name]:
			w.create(name)
			there[name] = true
		case roll(5) == 0:
			w.delete(name)
			delete(there, name)
		default:
			w.patch(name, fmt.Sprintf(`{"spec":{"size":%d}}`, roll(1<<30)))
		}
		time.Sleep(time.Duration(roll(500)) * time.Millisecond)
	}
	time.Sleep(time.Hour)
	mu.Lock()
	assert.Equal(t, 1, together)
	assert.LessOrEqual(t, most["limited"], limit)
	assert.Equal(t, min(workers, limit), most["limited"], "the limit is used")
	assert.Greater(t, calls, changes/4)
	mu.Unlock()
	w.stop()
}
