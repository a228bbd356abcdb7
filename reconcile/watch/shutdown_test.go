package watch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShutdown(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 8, mistake 7: nothing new is started, not even what waits for its turn", func(w *world) {
		w.do = func(ctx context.Context, _ request.Request) (request.Result, error) {
			time.Sleep(time.Second)
			return request.Result{}, ctx.Err()
		}
		for number := range 20 {
			w.create(widget(fmt.Sprint("w", number)))
		}
		w.start(Workers(2))
		began := time.Now()
		require.NoError(w.t, w.stop())
		assert.Equal(w.t, time.Second, time.Since(began))
		assert.Len(w.t, w.taken(), 2, "the two that ran")
		assert.Empty(w.t, w.logs.Count("level=WARN"), "and they ended in peace")
	})
	inBubble(t, "watch 8, mistake 15: what runs gets the grace time, then its context ends", func(w *world) {
		w.do = func(ctx context.Context, _ request.Request) (request.Result, error) {
			<-ctx.Done()
			assert.ErrorIs(w.t, context.Cause(ctx), context.Canceled)
			return request.Result{}, context.Cause(ctx)
		}
		w.create(widget("a"))
		w.start(Grace(30 * time.Second))
		began := time.Now()
		require.NoError(w.t, w.stop())
		assert.Equal(w.t, 30*time.Second, time.Since(began))
		assert.Equal(w.t, 1, w.logs.Count(`msg="reconcile was cancelled by the shutdown" object="Widget shop/a" error="the grace time of 30s is over: context canceled"`))
		assert.Zero(w.t, w.logs.Count("retry_in"))
	})
	inBubble(t, "no grace time, no waiting", func(w *world) {
		w.do = func(ctx context.Context, _ request.Request) (request.Result, error) {
			<-ctx.Done()
			return request.Result{}, ctx.Err()
		}
		w.create(widget("a"))
		w.start(Grace(0))
		began := time.Now()
		require.NoError(w.t, w.stop())
		assert.Equal(w.t, began, time.Now())
	})
	for reason, after := range map[string]time.Duration{"while it runs": time.Second, "and in the grace time": 3 * time.Second} {
		inBubble(t, "watch mistake 6: a leadership that is lost cancels at once, "+reason, func(w *world) {
			var cancelled time.Duration
			began := time.Now()
			w.do = func(ctx context.Context, _ request.Request) (request.Result, error) {
				<-ctx.Done()
				cancelled = time.Since(began)
				return request.Result{}, context.Cause(ctx)
			}
			w.create(widget("a"))
			w.create(widget("b"))
			lost := make(chan struct{})
			w.lost = lost
			w.start(Workers(1))
			time.AfterFunc(after, func() { close(lost) })
			w.pass(2 * time.Second)
			require.NoError(w.t, w.stop())
			assert.Equal(w.t, after, cancelled)
			assert.Len(w.t, w.taken(), 1, "and nothing is begun any more")
			assert.Equal(w.t, 1, w.logs.Count(`msg="reconcile was cancelled by the shutdown" object="Widget shop/a" error="the leadership was lost: context canceled"`))
		})
	}
	inBubble(t, "what failed or wants another turn doesn't get it any more", func(w *world) {
		w.do = func(_ context.Context, req request.Request) (request.Result, error) {
			time.Sleep(time.Second)
			if req.Key.Name == "a" {
				return request.Result{}, errors.New("weird")
			}
			return request.Result{RequeueAfter: time.Millisecond}, nil
		}
		a := widget("a")
		w.create(a)
		w.create(widget("b"))
		w.start()
		w.end()
		w.merge(a, `{"spec":{"size":2}}`)
		require.NoError(w.t, w.stop())
		w.pass(time.Hour)
		assert.Len(w.t, w.taken(), 2)
	})
	inBubble(t, "the objects aren't watched any more", func(w *world) {
		w.start()
		require.NoError(w.t, w.stop())
		w.create(widget("a"))
		assert.Empty(w.t, w.settle())
	})
}

func TestRunTwice(t *testing.T) {
	t.Parallel()
	inBubble(t, "an engine runs once", func(w *world) {
		engine := w.start()
		assert.EqualError(w.t, engine.Run(w.t.Context()), "engine: it runs already, or has run: make a new one")
		require.NoError(w.t, w.stop())
		assert.EqualError(w.t, engine.Run(w.t.Context()), "engine: it runs already, or has run: make a new one")
	})
	inBubble(t, "one whose context has ended does nothing", func(w *world) {
		w.create(widget("a"))
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		require.NoError(w.t, w.engine().Run(ctx))
		synctest.Wait()
		assert.Empty(w.t, w.taken())
	})
}

func TestNewStartsNothing(t *testing.T) {
	t.Parallel()
	// Whatever a bubble leaves running ends the test.
	inBubble(t, "watch 7: nothing is watched or begun before Run, and an engine that never runs leaves no goroutine", func(w *world) {
		w.create(widget("a"))
		w.engine()
		assert.Empty(w.t, w.settle())
		assert.Empty(w.t, w.subscriptions())
	})
}
