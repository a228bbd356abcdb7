package watch

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// another is an engine of widgets and regions; the options are those of regions, whose reconciler is returned.
func (w *world) another(options ...Option) (*Engine, *reconciler) {
	w.t.Helper()
	engine, other := w.engine(Workers(4)), &reconciler{}
	require.NoError(w.t, engine.Control(regions, other, options...))
	return engine, other
}

func TestOptionsOfAKind(t *testing.T) {
	t.Parallel()
	inBubble(t, "kinds 1: a kind has no more workers than it is given, and leaves the others to the rest", func(w *world) {
		engine, other := w.another(Workers(1))
		release := make(chan struct{})
		wait := func(context.Context, request.Request) (request.Result, error) {
			<-release
			return request.Result{}, nil
		}
		w.do, other.do = wait, wait
		for _, name := range []string{"a", "b", "c"} {
			w.create(object(regions, "", name))
			w.create(widget(name))
		}
		w.run(engine)
		assert.Len(w.t, w.settle(), 3)
		assert.Equal(w.t, []string{"Region a"}, other.taken())
		assert.Equal(w.t, 2, engine.State().Waiting)
		close(release)
		synctest.Wait()
		assert.Equal(w.t, []string{"Region b", "Region c"}, other.taken())
		assert.Zero(w.t, engine.State().Waiting)
	})
	inBubble(t, "kinds 2: a kind whose only worker is stuck has stalled, whatever the others do", func(w *world) {
		engine, other := w.another(Workers(1), Timeout(time.Second))
		release := make(chan struct{})
		defer close(release)
		other.do = func(context.Context, request.Request) (request.Result, error) {
			<-release
			return request.Result{}, nil
		}
		w.create(object(regions, "", "a"))
		w.run(engine)
		w.pass(time.Minute)
		assert.True(w.t, engine.State().Running[0].Stuck)
		assert.False(w.t, engine.State().Stalled(), "nobody waits for it")
		w.create(object(regions, "", "b"))
		w.create(widget("a"))
		synctest.Wait()
		assert.Equal(w.t, []string{"Widget shop/a"}, w.taken())
		assert.True(w.t, engine.State().Stalled())
	})
	inBubble(t, "kinds 1: and a timeout, a backoff and a period of its own", func(w *world) {
		engine, other := w.another(Timeout(time.Second), Backoff(time.Minute, time.Minute), Period(time.Hour))
		var limits []time.Duration
		other.do = func(ctx context.Context, req request.Request) (request.Result, error) {
			deadline, _ := ctx.Deadline()
			if limits = append(limits, time.Until(deadline)); req.Attempt < 2 {
				return request.Result{}, errors.New("no")
			}
			return request.Result{}, nil
		}
		w.create(object(regions, "", "a"))
		w.create(widget("a"))
		w.run(engine)
		w.pass(10 * time.Hour)
		attempts, gaps := other.attempts()
		require.GreaterOrEqual(w.t, len(attempts), 12)
		assert.Equal(w.t, []int{0, 1, 2, 0}, attempts[:4])
		assert.InDelta(w.t, time.Minute, gaps[0], float64(6*time.Second))
		assert.InDelta(w.t, time.Minute, gaps[1], float64(6*time.Second))
		assert.InDelta(w.t, time.Hour, gaps[2], float64(6*time.Minute))
		assert.Equal(w.t, time.Second, limits[0])
		assert.Len(w.t, w.taken(), 1, "the others have the engine's")
	})
	inBubble(t, "kinds 1: the engine's filter is for kinds that declare none, and a kind may have its own", func(w *world) {
		w.declare(source.Sources{When: filter.Always()})
		engine := w.engine(Filter(filter.Never()))
		silent, heard := &reconciler{}, &reconciler{}
		require.NoError(w.t, engine.Control(regions, silent))
		require.NoError(w.t, engine.Control(secrets, heard, Filter(filter.Created())))
		w.create(widget("a"))
		w.create(object(regions, "", "north"))
		w.create(object(secrets, "shop", "s"))
		w.run(engine)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "it declares which events count")
		assert.Empty(w.t, silent.taken())
		assert.Equal(w.t, []string{"Secret shop/s"}, heard.taken())
	})
	inBubble(t, "kinds 1: wrappers add to the engine's, inside of them", func(w *world) {
		var order []string
		note := func(name string) Option {
			return Around(func(inner Reconciler) Reconciler {
				return reconcilerFunc(func(ctx context.Context, req request.Request) (request.Result, error) {
					order = append(order, name+" "+req.Key.Kind.Kind)
					return inner.Reconcile(ctx, req)
				})
			})
		}
		engine := w.engine(note("all"))
		require.NoError(w.t, engine.Control(regions, &reconciler{}, note("one")))
		w.create(object(regions, "", "a"))
		w.run(engine)
		synctest.Wait()
		w.create(widget("a"))
		synctest.Wait()
		assert.Equal(w.t, []string{"all Region", "one Region", "all Widget"}, order)
	})
	t.Run("mistakes are refused", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			reason string
			option Option
			want   string
		}{
			{"a value that is none", Workers(0), "Region: workers: 0: at least 1 is needed"},
			{"the end of the engine is everybody's", Grace(time.Hour), "Region: the options Grace, Logger and Domain are for the whole engine: pass them to New"},
			{"and so is its domain", Domain("example.org"), "Region: the options Grace, Logger and Domain are for the whole engine: pass them to New"},
			{"and its log", Logger(slog.New(slog.DiscardHandler)), "Region: the options Grace, Logger and Domain are for the whole engine: pass them to New"},
		} {
			w := newWorld(t)
			assert.EqualError(t, w.engine().Control(regions, &reconciler{}, row.option), row.want, row.reason)
		}
	})
}

// reconcilerFunc is a function as a Reconciler.
type reconcilerFunc func(context.Context, request.Request) (request.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	return f(ctx, req)
}
