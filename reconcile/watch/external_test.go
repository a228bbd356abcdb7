package watch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExternal(t *testing.T) {
	t.Parallel()
	inBubble(t, "a channel brings what comes, whatever the filter says", func(w *world) {
		keys := make(chan deploy.Ref)
		w.create(widget("a"))
		w.declare(source.Sources{When: filter.Never(), External: []source.External{source.Channel(keys)}})
		w.start()
		assert.Empty(w.t, w.why())
		keys <- key("a")
		keys <- deploy.Ref{Namespace: "shop", Name: "gone"}
		assert.Equal(w.t, []string{"external", "external"}, w.why())
		assert.Equal(w.t, []string{"Widget shop/a", "Widget shop/gone"}, names(w.requests))
	})
	inBubble(t, "keys of other kinds are left out, and that is said once", func(w *world) {
		keys := make(chan deploy.Ref)
		w.declare(source.Sources{External: []source.External{source.Channel(keys)}})
		w.start()
		for range 3 {
			keys <- regionKey("north")
		}
		w.pass(time.Hour)
		assert.Empty(w.t, w.why())
		assert.Equal(w.t, 1, w.logs.Count("key ignored: a source returned a key of another kind"))
	})
	inBubble(t, "a poll brings what differs, and is asked again after an error", func(w *world) {
		versions := map[deploy.Ref]int{key("a"): 1, key("b"): 1}
		var fails error
		w.create(widget("a"))
		w.create(widget("b"))
		polled := make(chan struct{})
		w.declare(source.Sources{When: filter.Never(), External: []source.External{
			source.Poll(time.Minute, func(context.Context) (map[deploy.Ref]int, error) { <-polled; return versions, fails }),
		}})
		w.start()
		polled <- struct{}{}
		assert.Equal(w.t, []string{"external", "external"}, w.why())
		w.pass(time.Minute)
		fails = errors.New("refused")
		polled <- struct{}{}
		w.pass(time.Minute)
		polled <- struct{}{}
		assert.Empty(w.t, w.why())
		assert.Equal(w.t, 1, w.logs.Count(`level=WARN msg="an external source can't be read" kind=Widget error="poll: refused"`))
		w.pass(time.Minute)
		fails, versions[key("b")] = nil, 2
		polled <- struct{}{}
		assert.Equal(w.t, []string{"Widget shop/b"}, w.settle())
		close(polled)
	})
	inBubble(t, "a poll of each object knows which there are", func(w *world) {
		var asked []string
		w.declare(source.Sources{External: []source.External{
			source.PollEach(time.Minute, func(_ context.Context, key deploy.Ref) (int, error) {
				asked = append(asked, key.String())
				return 0, nil
			}),
		}})
		a := w.create(widget("a"))
		engine := w.engine()
		require.NoError(w.t, engine.Control(regions, w.reconciler))
		w.create(object(regions, "", "north"))
		w.run(engine)
		w.pass(time.Second)
		assert.Equal(w.t, []string{"Widget shop/a"}, asked, "when they are known, and of the kind alone")
		w.delete(a)
		w.create(widget("b"))
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"Widget shop/a", "Widget shop/b"}, asked)
	})
	inBubble(t, "watch mistake 12: a source that panics is run again, later each time", func(w *world) {
		var runs []time.Duration
		began := time.Now()
		w.create(widget("a"))
		w.declare(source.Sources{External: []source.External{source.Func(func(_ context.Context, target source.Target) {
			runs = append(runs, time.Since(began))
			if len(runs) < 4 {
				panic("boom")
			}
			target.Bring(key("a"))
		})}})
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why())
		w.pass(time.Hour)
		assert.Equal(w.t, []string{"external"}, w.why())
		const step = 250 * time.Millisecond
		assert.Equal(w.t, []time.Duration{0, step, 3 * step, 7 * step}, runs, "and not any more once it has ended by itself")
		assert.Equal(w.t, 3, w.logs.Count("an external source panicked: it is run again"))
	})
	inBubble(t, "it ends with the engine, also while it waits for its next turn", func(w *world) {
		w.declare(source.Sources{External: []source.External{
			source.Channel(make(chan deploy.Ref)),
			source.Func(func(context.Context, source.Target) { panic("boom") }),
		}})
		w.start()
		began := time.Now()
		require.NoError(w.t, w.stop())
		assert.Equal(w.t, began, time.Now())
	})
	inBubble(t, "handlers 57: it knows the grace of the engine, and why it ends", func(w *world) {
		causes := make(chan error, 2)
		w.declare(source.Sources{External: []source.External{source.Func(func(ctx context.Context, _ source.Target) {
			grace, ok := source.GraceOf(ctx)
			assert.Equal(w.t, []any{3 * time.Second, true}, []any{grace, ok})
			<-ctx.Done()
			causes <- context.Cause(ctx)
		})}})
		engine := w.start(Grace(3 * time.Second))
		require.NoError(w.t, engine.Release(w.t.Context(), widgets))
		assert.ErrorIs(w.t, <-causes, source.ErrReleased)
		require.NoError(w.t, engine.Control(widgets, w.as(w.sources)))
		w.settle()
		require.NoError(w.t, w.stop())
		assert.NotErrorIs(w.t, <-causes, source.ErrReleased)
	})
	inBubble(t, "it isn't run before the objects are known", func(w *world) {
		w.unable(widgets, &deploy.KindUnknownError{Kind: widgets}, nil)
		runs := 0
		w.declare(source.Sources{External: []source.External{source.Func(func(context.Context, source.Target) { runs++ })}})
		w.start()
		w.pass(time.Hour)
		assert.Zero(w.t, runs)
		w.unable(widgets, nil, nil)
		w.pass(5 * time.Second)
		assert.Equal(w.t, 1, runs)
	})
}

func names(requests []request.Request) (all []string) {
	for _, req := range requests {
		all = append(all, req.Key.String())
	}
	return all
}
