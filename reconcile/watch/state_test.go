package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDefaultWorkers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason           string
		processors, want int
	}{
		{"watch mistake 24: a share of a processor is one", 1, 4},
		{"watch 10: reconciles mostly wait: several for each", 2, 8},
		{"watch 10: and for each more", 7, 28},
		{"the cluster has to bear it too", 8, 32},
		{"whatever the machine", 256, 32},
		{"watch mistake 24: whatever is said", 0, 4},
	} {
		t.Run(row.reason, func(t *testing.T) { assert.Equal(t, row.want, defaultWorkers(row.processors)) })
	}
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	engine, err := New(memory.View())
	require.NoError(t, err)
	assert.Equal(t, defaultWorkers(runtime.GOMAXPROCS(0)), engine.State().Workers, "of what the process may use")
}

func TestState(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 20: it says what each part does, and whether that makes progress", func(w *world) {
		release := make(chan struct{})
		w.do = func(context.Context, request.Request) (request.Result, error) {
			<-release
			return request.Result{RequeueAfter: time.Hour}, nil
		}
		unknown := &deploy.KindUnknownError{Kind: configMaps}
		w.unable(configMaps, unknown, nil)
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		engine := w.engine(Workers(2), Timeout(time.Minute))
		assert.Equal(w.t, State{Workers: 2}, engine.State(), "before it runs, as on a replica that doesn't lead, there is nothing to do")
		for _, name := range []string{"a", "b", "c"} {
			w.create(widget(name))
		}
		w.run(engine)
		synctest.Wait()
		began := time.Now()
		w.pass(time.Second)
		state := engine.State()
		assert.Len(w.t, state.Running, 2)
		for _, running := range state.Running {
			assert.Equal(w.t, Running{Key: running.Key, Since: began}, running)
		}
		assert.Equal(w.t, 1, state.Waiting)
		assert.Equal(w.t, began, state.LastStart)
		assert.Equal(w.t, uint64(3), state.Events)
		assert.Equal(w.t, []KindState{{configMaps, state.Kinds[0].Reason}, {widgets, nil}}, state.Kinds)
		assert.ErrorIs(w.t, state.Kinds[0].Reason, error(unknown))
		assert.False(w.t, state.Stalled())
		close(release)
		synctest.Wait()
		w.unable(configMaps, nil, nil)
		w.pass(10 * time.Second)
		state = engine.State()
		assert.Equal(w.t, State{
			Workers: 2, Timers: 3, LastStart: state.LastStart, Events: 3, Reconciles: 3, Kinds: []KindState{{configMaps, nil}, {widgets, nil}},
		}, state)
	})
	inBubble(t, "what fails, and how long it waits by now", func(w *world) {
		var mended atomic.Bool
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			if req.Key.Name == "well" || mended.Load() {
				return request.Result{}, nil
			}
			return request.Result{}, errors.New("no")
		}
		for _, name := range []string{"a", "b", "well"} {
			w.create(widget(name))
		}
		engine := w.start(Backoff(time.Second, 4*time.Second))
		failing := func() []any { s := engine.State(); return []any{s.Failing, s.LongestBackoff} }
		synctest.Wait()
		assert.Equal(w.t, []any{2, time.Second}, failing())
		w.pass(1500 * time.Millisecond)
		assert.Equal(w.t, []any{2, 2 * time.Second}, failing())
		w.pass(time.Minute)
		assert.Equal(w.t, []any{2, 4 * time.Second}, failing())
		mended.Store(true)
		w.pass(time.Minute)
		assert.Equal(w.t, []any{0, time.Duration(0)}, failing())
	})
	inBubble(t, "a kind that is asked for and hasn't answered isn't watched", func(w *world) {
		w.asking = func(ctx context.Context, _ schema.GroupVersionKind) { <-ctx.Done() }
		engine := w.start()
		assert.Equal(w.t, []KindState{{widgets, errUnread}}, engine.State().Kinds)
	})
	inBubble(t, "kinds that reconciles tell of, and single objects that they follow", func(w *world) {
		engine := w.start()
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		require.NoError(w.t, engine.Follow(w.t.Context(), key("a"), deploy.Ref{Kind: secrets, Namespace: "shop", Name: "s"}))
		assert.Equal(w.t, []KindState{{configMaps, nil}, {secrets, nil}, {widgets, nil}}, engine.State().Kinds)
		w.unable(regions, errors.New("no"), nil)
		require.Error(w.t, engine.Own(w.t.Context(), widgets, regions))
		assert.EqualError(w.t, engine.State().Kinds[2].Reason, "watch Region: no")
	})
}

func TestStuck(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 15: a reconcile that doesn't heed its context is seen, once, with its object and its time", func(w *world) {
		release := make(chan struct{})
		w.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			logging.Annotate(ctx, slog.String("reconcile", "of-"+req.Key.Name))
			if req.Key.Name == "stuck" {
				<-release
			}
			return request.Result{}, nil
		}
		w.create(widget("stuck"))
		engine := w.start(Workers(2), Timeout(10*time.Minute), Backoff(time.Hour, time.Hour))
		began := time.Now()
		w.pass(11*time.Minute - time.Nanosecond)
		assert.False(w.t, engine.State().Running[0].Stuck)
		assert.Zero(w.t, w.logs.Count("stuck:"))
		w.pass(time.Hour)
		assert.Equal(w.t, []Running{{key("stuck"), began, true}}, engine.State().Running)
		assert.Equal(w.t, 1, w.logs.Count(fmt.Sprintf(
			`level=ERROR msg="a reconcile is stuck: it doesn't return although its context has ended" reconcile=of-stuck object="Widget shop/stuck" since=%s`, began.Format("2006-01-02T15:04:05.000Z07:00"))))
		w.create(widget("b"))
		assert.Len(w.t, w.settle(), 2, "others go on")
		assert.False(w.t, engine.State().Stalled())
		close(release)
		synctest.Wait()
		assert.Empty(w.t, engine.State().Running)
		assert.Equal(w.t, 1, w.logs.Count(`msg="a reconcile that was stuck has returned" reconcile=of-stuck object="Widget shop/stuck"`))
	})
	inBubble(t, "watch mistake 20: when each worker is stuck nothing makes progress any more", func(w *world) {
		release := make(chan struct{})
		w.do = func(context.Context, request.Request) (request.Result, error) {
			<-release
			return request.Result{}, nil
		}
		w.create(widget("a"))
		w.create(widget("b"))
		engine := w.start(Workers(2), Timeout(time.Minute))
		w.pass(time.Hour)
		assert.False(w.t, engine.State().Stalled(), "nobody waits")
		w.create(widget("c"))
		w.settle()
		assert.True(w.t, engine.State().Stalled())
		close(release)
		synctest.Wait()
		assert.False(w.t, engine.State().Stalled())
	})
	inBubble(t, "reconciles that are done in time are never stuck, however many", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(59 * time.Second)
			return request.Result{RequeueAfter: time.Second}, nil
		}
		w.create(widget("a"))
		w.start(Workers(1), Timeout(time.Minute))
		w.pass(time.Hour)
		assert.Greater(w.t, len(w.taken()), 50)
		assert.Zero(w.t, w.logs.Count("stuck"))
	})
	inBubble(t, "a watchdog that barks when the next reconcile has just begun doesn't mean that one", func(w *world) {
		s := &slot{logger: w.logger()}
		s.begin(t.Context(), key("a"), time.Minute)
		w.pass(59 * time.Second)
		s.end()
		s.begin(t.Context(), key("b"), time.Minute)
		s.look()
		running, _ := s.present()
		assert.False(w.t, running.Stuck)
		s.end()
		s.look()
		assert.Empty(w.t, w.logs.String())
	})
	inBubble(t, "no timeout is too long", func(w *world) {
		w.create(widget("a"))
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(time.Hour)
			return request.Result{}, nil
		}
		w.start(Timeout(1<<63 - 1))
		w.pass(2 * time.Hour)
		assert.Zero(w.t, w.logs.Count("stuck"))
	})
}

func BenchmarkState(b *testing.B) {
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(b, err)
	engine, err := New(memory.View())
	require.NoError(b, err)
	for i := range 100_000 {
		engine.queue.Add(key(fmt.Sprint(i)), request.Changed)
	}
	b.ReportAllocs()
	for b.Loop() {
		engine.State()
	}
	engine.queue.Close()
}
