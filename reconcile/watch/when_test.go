package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edits are what may happen to a widget.
const (
	newSpec   = `{"spec":{"size":2}}`
	newLabel  = `{"metadata":{"labels":{"a":"b"}}}`
	pausing   = `{"metadata":{"annotations":{"operkit.dev/pause-execution":"true"}}}`
	unpausing = `{"metadata":{"annotations":{"operkit.dev/pause-execution":null}}}`
	finalized = `{"metadata":{"finalizers":["example.dev/ours"]}}`
)

func TestWhen(t *testing.T) {
	t.Parallel()
	spec := filter.Or(filter.Lifecycle(), filter.Generation())
	for _, row := range []struct {
		reason    string
		predicate filter.Predicate
		atStart   int
		change    func(w *world, obj *unstructured.Unstructured)
		want      int
	}{
		{"watch 21: what passes", spec, 1, func(w *world, obj *unstructured.Unstructured) { w.merge(obj, newSpec) }, 1},
		{"watch 21: what doesn't", spec, 1, func(w *world, obj *unstructured.Unstructured) { w.merge(obj, newLabel) }, 0},
		{"watch 29: what exists at the start is no new spec", filter.Generation(), 0, func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, newSpec)
		}, 1},
		{"watch 29: more than by itself", filter.Or(filter.Standard(), filter.ReadyReason()), 1, func(w *world, obj *unstructured.Unstructured) {
			w.mergeStatus(obj, `{"status":{"conditions":[{"type":"Ready","reason":"Stable"}]}}`)
			synctest.Wait()
			w.mergeStatus(obj, `{"status":{"size":7}}`)
			w.merge(obj, newLabel)
		}, 2},
		{"watch 29: nothing at all", filter.Never(), 0, func(w *world, obj *unstructured.Unstructured) { w.delete(obj) }, 0},
		{"watch mistake 10: a spec that changes under pause waits for its end", filter.UnlessPaused("", spec), 1, func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, pausing)
			w.merge(obj, newSpec)
			require.Empty(w.t, w.settle())
			w.merge(obj, unpausing)
		}, 1},
		{"watch 18: a paused one may go", filter.UnlessPaused("", spec), 1, func(w *world, obj *unstructured.Unstructured) {
			w.merge(obj, pausing)
			w.merge(obj, finalized)
			require.Empty(w.t, w.settle())
			w.delete(obj)
		}, 1},
	} {
		inBubble(t, row.reason, func(w *world) {
			obj := w.create(widget("a"))
			w.declare(source.Sources{When: row.predicate})
			w.start()
			assert.Len(w.t, w.taken(), row.atStart)
			row.change(w, obj)
			synctest.Wait()
			// What comes at once is one reconcile: what is to be two is given apart.
			assert.Len(w.t, w.settle(), row.want)
		})
	}
}

func TestWhenIsForEventsOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 13: a failure is tried again, and what doesn't count doesn't begin anew", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			return request.Result{}, errors.New("not today")
		}
		obj := w.create(widget("a"))
		w.declare(source.Sources{When: filter.Created()})
		w.start(Backoff(time.Second, time.Second))
		w.pass(time.Second)
		w.merge(obj, newSpec)
		w.pass(time.Second)
		attempts, _ := w.attempts()
		assert.Equal(w.t, []int{0, 1, 2}, attempts)
	})
	inBubble(t, "nothing is kept of one that is gone, although that doesn't count", func(w *world) {
		w.do = func(context.Context, request.Request) (request.Result, error) {
			return request.Result{}, request.RetryAfter(time.Hour, errors.New("not today"))
		}
		obj := w.create(widget("a"))
		w.declare(source.Sources{When: filter.Created()})
		engine := w.start()
		assert.Equal(w.t, 1, engine.of(widgets).backoff.failures(key("a")))
		w.delete(obj)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "at the start alone")
		assert.Zero(w.t, engine.of(widgets).backoff.failures(key("a")))
		assert.Zero(w.t, engine.State().Timers)
		assert.Zero(w.t, engine.owners.Len())
	})
	inBubble(t, "watch 24: children find an owner whose own events don't count", func(w *world) {
		a := w.create(widget("a"))
		w.declare(source.Sources{When: filter.Never()})
		engine := w.start()
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, configMaps))
		w.create(child("c", a))
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
	})
	inBubble(t, "watch 26: other kinds have what they had", func(w *world) {
		engine := w.engine()
		require.NoError(w.t, engine.Control(regions, w.as(source.Sources{When: filter.Never()})))
		w.create(widget("a"))
		w.create(object(regions, "", "north"))
		w.run(engine)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
	})
}

func TestFilterThatPanics(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 12: the event counts, and the panic is told of once", func(w *world) {
		broken := func(deploy.Event) bool { return []bool(nil)[1] }
		obj := w.create(widget("a"))
		w.declare(source.Sources{When: broken})
		w.start()
		w.merge(obj, newSpec)
		synctest.Wait()
		w.merge(obj, newLabel)
		assert.Equal(w.t, []string{"Widget shop/a", "Widget shop/a", "Widget shop/a"}, w.settle())
		assert.Equal(w.t, 1, w.logs.Count(`level=ERROR msg="a filter panicked: its event counts" kind=Widget.example.dev`))
		assert.Equal(w.t, 1, w.logs.Count("filter"), "and no more of it")
	})
}
