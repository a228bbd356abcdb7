package kinds

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// changing is a view of a cluster whose kinds are those that the test sets.
type changing struct {
	deploy.View
	kinds chan []deploy.ServedKind
}

func (c *changing) Served(context.Context, schema.GroupVersionKind) error { return nil }

func (c *changing) Kinds(context.Context) ([]deploy.ServedKind, error) { return nil, nil }

func (c *changing) WatchKinds(ctx context.Context, handle func([]deploy.ServedKind)) {
	for {
		select {
		case kinds := <-c.kinds:
			handle(kinds)
		case <-ctx.Done():
			return
		}
	}
}

// world is a driver over a cluster in memory, in a time that passes at once.
type world struct {
	t      *testing.T
	view   *changing
	memory *dryrun.Cluster
	engine *watch.Engine
	logs   *testlog.Text
	// changed has the driver ask its selector again.
	changed chan struct{}

	mu    sync.Mutex
	lines []string
}

// inBubble runs a test in which a driver runs that d describes; its New is that of the world unless it is set.
func inBubble(t *testing.T, reason string, d Driver, test func(w *world)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			memory, err := dryrun.New(dryrun.Schemaless(), dryrun.AnyKind())
			require.NoError(t, err)
			t.Cleanup(memory.Wait)
			w := &world{t: t, view: &changing{memory.View(), make(chan []deploy.ServedKind)}, memory: memory, logs: &testlog.Text{}, changed: make(chan struct{})}
			logger := slog.New(slog.NewTextHandler(w.logs, nil))
			w.engine, err = watch.New(w.view, watch.Logger(logger))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer cancel()
			running.Go(func() { assert.NoError(t, w.engine.Run(ctx)) })
			d := d
			d.View, d.Engine, d.Logger, d.Select.Changed = w.view, w.engine, logger, w.changed
			d.Ended = func(kind schema.GroupVersionKind) { w.note("end " + kind.GroupVersion().String() + " " + kind.Kind) }
			inner := d.New
			d.New = func(ctx context.Context, kind deploy.ServedKind) (watch.Reconciler, error) {
				if inner != nil {
					if _, err := inner(ctx, kind); err != nil {
						return nil, err
					}
				}
				return w.reconciler(kind), nil
			}
			running.Go(func() { assert.NoError(t, d.Run(ctx)) })
			synctest.Wait()
			test(w)
		})
	})
}

func (w *world) note(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// reconciler notes that it was made, and what it is called for.
func (w *world) reconciler(kind deploy.ServedKind) watch.Reconciler {
	w.note("new " + kind.Kind.GroupVersion().String() + " " + kind.Kind.Kind)
	return reconcilerFunc(func(ctx context.Context, req request.Request) (request.Result, error) {
		w.note("reconcile " + req.Key.String())
		if req.Key.Name == "slow" {
			<-ctx.Done()
			time.Sleep(time.Minute)
		}
		return request.Result{}, nil
	})
}

type reconcilerFunc func(ctx context.Context, req request.Request) (request.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	return f(ctx, req)
}

// serve makes the cluster serve these kinds, and returns what happened then, sorted.
func (w *world) serve(kinds ...deploy.ServedKind) []string {
	w.t.Helper()
	w.view.kinds <- kinds
	return w.happened()
}

func (w *world) happened() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	w.lines = nil
	slices.Sort(lines)
	return lines
}

func (w *world) create(kind deploy.ServedKind, name string) {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind.Kind)
	obj.SetNamespace("shop")
	obj.SetName(name)
	_, err := w.memory.Port().Apply(w.t.Context(), obj, deploy.ApplyOptions{FieldManager: "somebody"})
	require.NoError(w.t, err)
}

func TestDriver(t *testing.T) {
	t.Parallel()
	one, two := kind("a.example.dev", "v1", "One", "ones"), kind("a.example.dev", "v1", "Two", "twos")
	inBubble(t, "kinds 14: a kind that comes is reconciled, and one that goes isn't any more", Driver{Select: Selector{Group: "*.example.dev"}}, func(w *world) {
		assert.Equal(w.t, []string{"new a.example.dev/v1 One"}, w.serve(one, kind("apps", "v1", "Deployment", "deployments")))
		w.create(one, "x")
		assert.Equal(w.t, []string{"reconcile One shop/x"}, w.happened())
		assert.Equal(w.t, []string{"new a.example.dev/v1 Two"}, w.serve(one, two), "one more")
		assert.Equal(w.t, []string{"end a.example.dev/v1 One"}, w.serve(two))
		assert.Len(w.t, w.engine.State().Kinds, 1)
		w.create(one, "y")
		assert.Empty(w.t, w.happened())
		assert.Equal(w.t, []string{"new a.example.dev/v1 One", "reconcile One shop/x", "reconcile One shop/y"}, w.serve(one, two), "it comes back")
		assert.Empty(w.t, w.serve(one, two), "no change")
	})
	inBubble(t, "kinds 11: when the preferred version changes, another reconciler takes the place of the first", Driver{}, func(w *world) {
		w.create(one, "x")
		assert.Equal(w.t, []string{"new a.example.dev/v1 One", "reconcile One shop/x"}, w.serve(one))
		newer := kind("a.example.dev", "v2", "One", "ones")
		w.create(newer, "x")
		w.happened()
		assert.Equal(w.t, []string{"end a.example.dev/v1 One", "new a.example.dev/v2 One", "reconcile One shop/x"}, w.serve(newer, of(older, one)))
		assert.Equal(w.t, newer.Kind, w.engine.State().Kinds[0].Kind)
	})
	var where, basis atomic.Value
	where.Store("Two")
	basis.Store(1)
	dynamic := Selector{
		Where: func(kind deploy.ServedKind) bool { return kind.Kind.Kind == where.Load() },
		Basis: func(deploy.ServedKind) any { return basis.Load() },
	}
	inBubble(t, "kinds 17: a selector that depends on something else is asked when that changes", Driver{Select: dynamic}, func(w *world) {
		w.create(one, "x")
		assert.Equal(w.t, []string{"new a.example.dev/v1 Two"}, w.serve(one, two))
		w.changed <- struct{}{}
		assert.Empty(w.t, w.happened(), "nothing is different")
		where.Store("One")
		assert.Empty(w.t, w.happened(), "nobody has said so")
		w.changed <- struct{}{}
		assert.Equal(w.t, []string{"end a.example.dev/v1 Two", "new a.example.dev/v1 One", "reconcile One shop/x"}, w.happened())
		basis.Store(2)
		w.changed <- struct{}{}
		assert.Equal(w.t, []string{"end a.example.dev/v1 One", "new a.example.dev/v1 One", "reconcile One shop/x"}, w.happened())
		close(w.changed)
		assert.Empty(w.t, w.happened(), "then it depends on nothing any more")
	})
	counted := Selector{Options: func(kind deploy.ServedKind) []watch.Option {
		return []watch.Option{watch.Around(func(inner watch.Reconciler) watch.Reconciler {
			return reconcilerFunc(func(ctx context.Context, req request.Request) (request.Result, error) {
				if kind.Kind.Kind == "One" {
					req.Key.Name += " as selected"
				}
				return inner.Reconcile(ctx, req)
			})
		})}
	}}
	inBubble(t, "kinds 18: a selector has options for each kind", Driver{Select: counted}, func(w *world) {
		w.create(one, "x")
		w.create(two, "x")
		want := []string{"new a.example.dev/v1 One", "new a.example.dev/v1 Two", "reconcile One shop/x as selected", "reconcile Two shop/x"}
		assert.Equal(w.t, want, w.serve(one, two))
	})
	inBubble(t, "kinds 14: a kind that goes and comes back waits until its last reconcile has ended", Driver{}, func(w *world) {
		w.create(one, "slow")
		w.serve(one)
		assert.Empty(w.t, w.serve(), "it takes a minute to end")
		assert.Equal(w.t, []string{"new a.example.dev/v1 Two"}, w.serve(one, two), "which holds up nobody else")
		time.Sleep(time.Minute)
		assert.Equal(w.t, []string{"end a.example.dev/v1 One", "new a.example.dev/v1 One", "reconcile One shop/slow"}, w.happened())
		w.serve()
		time.Sleep(time.Minute)
	})
	inBubble(t, "kinds 15: kinds that lack a verb are left out, which is said once", Driver{Verbs: []string{"patch"}}, func(w *world) {
		list := of(readOnly, kind("metrics.k8s.io", "v1", "Usage", "usages"))
		for range 3 {
			w.serve(list, one)
			w.serve(list)
			w.happened()
		}
		assert.Equal(w.t, 1, w.logs.Count(`level=WARN msg="a kind isn't reconciled: the API server doesn't offer all verbs that it needs" kind=Usage.metrics.k8s.io lacks="watch, patch"`))
		assert.Len(w.t, w.engine.State().Kinds, 0)
	})
	inBubble(t, "kinds 15: a kind whose definition is being deleted is reconciled until it is gone", Driver{Verbs: []string{"patch"}}, func(w *world) {
		w.serve(one)
		w.serve(of(readOnly, one))
		w.create(one, "x")
		assert.Equal(w.t, []string{"reconcile One shop/x"}, w.happened())
		assert.Equal(w.t, []string{"end a.example.dev/v1 One"}, w.serve())
		w.create(one, "y")
		assert.Empty(w.t, w.happened())
		assert.Zero(w.t, w.logs.Count("level=WARN"))
	})
	inBubble(t, "kinds 13: a name that means several is said once, and ends what it meant before", Driver{Select: Selector{Name: "ones"}}, func(w *world) {
		other := kind("b.example.dev", "v1", "One", "ones")
		assert.Equal(w.t, []string{"new a.example.dev/v1 One"}, w.serve(one))
		assert.Equal(w.t, []string{"end a.example.dev/v1 One"}, w.serve(one, other))
		for range 3 {
			assert.Empty(w.t, w.serve(one, other))
		}
		assert.Empty(w.t, w.engine.State().Kinds)
		assert.Equal(w.t, 1, w.logs.Count(`msg="a name means several kinds, none of them is reconciled: select the group, too" name=ones kinds="One.a.example.dev, One.b.example.dev"`))
		assert.Equal(w.t, []string{"new b.example.dev/v1 One"}, w.serve(other))
	})
	fails := errors.New("no such database")
	attempts := 0
	inBubble(t, "kinds 16: a reconciler that can't be made is tried again each minute", Driver{New: func(context.Context, deploy.ServedKind) (watch.Reconciler, error) {
		switch attempts++; attempts {
		case 1, 2:
			return nil, fails
		case 3:
			panic("boom")
		}
		return nil, nil
	}}, func(w *world) {
		assert.Empty(w.t, w.serve(one))
		time.Sleep(150 * time.Second)
		assert.Empty(w.t, w.happened())
		assert.Equal(w.t, 1, w.logs.Count(`msg="a kind isn't reconciled: its reconciler can't be made, retrying" kind=One.a.example.dev error="no such database"`))
		assert.Equal(w.t, 1, w.logs.Count(`kind=One.a.example.dev error="panic: boom (driver_test.go:`))
		time.Sleep(time.Minute)
		assert.Equal(w.t, []string{"new a.example.dev/v1 One"}, w.happened())
	})
}

func TestDriverGoesOn(t *testing.T) {
	t.Parallel()
	one, other := kind("a.example.dev", "v1", "One", "ones"), kind("b.example.dev", "v1", "Other", "others")
	inBubble(t, "kinds 13: a selector that matches nothing is said once, until something comes", Driver{Select: Selector{Group: "a.example.dev"}}, func(w *world) {
		said := func() int { return w.logs.Count("the cluster serves no kind that is selected, waiting for one") }
		w.serve(other)
		w.serve(other)
		assert.Equal(w.t, 1, said())
		w.serve(one)
		w.serve()
		assert.Equal(w.t, 2, said(), "and again when it is so again")
	})
	inBubble(t, "kinds 16: a kind that has a reconciler gets no second one", Driver{}, func(w *world) {
		require.NoError(w.t, w.engine.Control(one.Kind, w.reconciler(one)))
		w.happened()
		assert.Empty(w.t, w.serve(one))
		time.Sleep(time.Hour)
		assert.Empty(w.t, w.happened(), "nothing is made in vain")
		assert.Equal(w.t, 1, w.logs.Count("a kind isn't reconciled a second time: the engine has a reconciler for it"))
		require.NoError(w.t, w.engine.Release(w.t.Context(), one.Kind))
		time.Sleep(time.Minute)
		assert.Equal(w.t, []string{"new a.example.dev/v1 One"}, w.happened())
	})
	var panics atomic.Bool
	inBubble(t, "kinds 10: a function that panics leaves the kinds as they are", Driver{Select: Selector{Where: func(deploy.ServedKind) bool {
		if panics.Load() {
			panic("boom")
		}
		return true
	}}}, func(w *world) {
		assert.Equal(w.t, []string{"new a.example.dev/v1 One"}, w.serve(one))
		panics.Store(true)
		assert.Empty(w.t, w.serve(other))
		assert.Equal(w.t, 1, w.logs.Count(`msg="the kinds can't be selected: they stay as they are" error="panic: boom (driver_test.go:`))
		panics.Store(false)
		time.Sleep(time.Minute)
		assert.Equal(w.t, []string{"end a.example.dev/v1 One", "new b.example.dev/v1 Other"}, w.happened())
	})
}

func TestKindThatGoesBeforeTheEngineRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory, err := dryrun.New(dryrun.Schemaless(), dryrun.AnyKind())
		require.NoError(t, err)
		t.Cleanup(memory.Wait)
		view := &changing{memory.View(), make(chan []deploy.ServedKind)}
		engine, err := watch.New(view, watch.Logger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		w := &world{t: t, view: view, memory: memory, engine: engine}
		d := Driver{
			View: view, Engine: engine, Logger: slog.New(slog.DiscardHandler),
			New: func(_ context.Context, kind deploy.ServedKind) (watch.Reconciler, error) {
				return w.reconciler(kind), nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { assert.NoError(t, d.Run(ctx)) })
		one, newer := kind("a.example.dev", "v1", "One", "ones"), kind("a.example.dev", "v2", "One", "ones")
		w.serve(one)
		assert.Empty(t, w.serve(newer), "kinds 14: an engine that doesn't run releases nothing")
		running.Go(func() { assert.NoError(t, engine.Run(ctx)) })
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"new a.example.dev/v2 One"}, w.happened(), "but a minute later")
	})
}

func TestDriverRefuses(t *testing.T) {
	t.Parallel()
	memory, err := dryrun.New()
	require.NoError(t, err)
	engine, err := watch.New(memory.View())
	require.NoError(t, err)
	never := func(context.Context, deploy.ServedKind) (watch.Reconciler, error) { return nil, nil }
	for _, row := range []struct {
		reason string
		driver Driver
		want   string
	}{
		{"no kinds", Driver{View: struct{ deploy.View }{}, Engine: engine, New: never}, "kinds: struct { deploy.View } doesn't report the kinds of the cluster: use a deploy.KindView"},
		{"no engine", Driver{View: memory.View(), New: never}, "kinds: a driver needs an Engine and New"},
		{"no reconcilers", Driver{View: memory.View(), Engine: engine}, "kinds: a driver needs an Engine and New"},
		{"no pattern", Driver{View: memory.View(), Engine: engine, New: never, Select: Selector{Group: "[a"}}, `selector: group "[a": not a pattern of path.Match: syntax error in pattern`},
	} {
		assert.EqualError(t, row.driver.Run(t.Context()), row.want, row.reason)
	}
}
