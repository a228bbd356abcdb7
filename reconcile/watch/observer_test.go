package watch

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// observing is a reconciler that is told of events.
type observing struct {
	declaring
	observe func(deploy.Event)
}

func (o observing) Observe(event deploy.Event) { o.observe(event) }

// watching runs an engine with an observer of widgets.
func (w *world) watching(sources source.Sources, observe func(deploy.Event)) {
	w.t.Helper()
	engine, err := New(w.view, Logger(w.logger()))
	require.NoError(w.t, err)
	require.NoError(w.t, engine.Control(widgets, observing{declaring{w.reconciler, sources}, observe}))
	w.run(engine)
	w.settle()
}

func TestObserver(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 21: it is told of every event, with old and new, before any filter", func(w *world) {
		var told []string
		a := w.create(widget("a"))
		w.watching(source.Sources{When: filter.Never()}, func(event deploy.Event) {
			size := func(values map[string]any) any { return values["spec"].(map[string]any)["size"] }
			line := string(event.Type) + " " + event.New.GetName()
			if event.Type == deploy.Modified && size(event.Old.Object) != size(event.New.Object) {
				line += " has another size"
			}
			told = append(told, line)
		})
		w.merge(a, newSpec)
		w.settle()
		w.mergeStatus(a, `{"status":{"ready":true}}`)
		w.settle()
		w.create(object(regions, "", "north"))
		w.delete(a)
		assert.Empty(w.t, w.settle())
		b := w.create(widget("b"))
		w.settle()
		w.leave(b)
		w.settle()
		assert.Equal(w.t, []string{"ADDED a", "MODIFIED a has another size", "MODIFIED a", "DELETED a", "ADDED b", "LEFT b"}, told)
	})
	inBubble(t, "it is told before the reconcile begins that the event brings", func(w *world) {
		told := false
		w.do = func(context.Context, request.Request) (request.Result, error) {
			assert.True(w.t, told)
			return request.Result{}, nil
		}
		w.create(widget("a"))
		w.watching(source.Sources{}, func(deploy.Event) { told = true })
		assert.Len(w.t, w.requests, 1)
	})
	inBubble(t, "watch mistake 12: a panic is logged once and keeps nobody from being reconciled", func(w *world) {
		w.create(widget("a"))
		w.watching(source.Sources{}, func(deploy.Event) { panic("boom") })
		w.create(widget("b"))
		w.settle()
		assert.Len(w.t, w.requests, 2)
		assert.Equal(w.t, 1, w.logs.Count(`level=ERROR msg="an observer panicked" kind=Widget value=boom`))
	})
}

type misspeltObserver struct{ *reconciler }

func (misspeltObserver) Observe(*deploy.Event) {}

type misspeltSources struct{ *reconciler }

func (misspeltSources) Sources() *source.Sources { return nil }

func TestOptionalMethods(t *testing.T) {
	t.Parallel()
	inBubble(t, "what is wrong with what a reconciler says of itself is refused before anything runs", func(w *world) {
		for want, reconciler := range map[string]Reconciler{
			"Widget: watch.misspeltObserver: its method Observe is (*deploy.Event): make it (deploy.Event)":      misspeltObserver{w.reconciler},
			"Widget: watch.misspeltSources: its method Sources is () *source.Sources: make it () source.Sources": misspeltSources{w.reconciler},
			"Widget: watch.declaring: its sources: owned[0]: kind \"/, Kind=\": needs a version and a kind":      w.as(source.Sources{Owned: []source.Owned{{}}}),
			"Widget: watch.declaring: its sources: external[0]: nil source":                                      w.as(source.Sources{External: []source.External{nil}}),
			"Widget: watch.declaring: its sources: mapped[0]: ConfigMap: nil Keys":                               w.as(source.Sources{Mapped: []source.Mapped{{Kind: configMaps}}}),
		} {
			engine, err := New(w.view)
			require.NoError(w.t, err)
			assert.EqualError(w.t, engine.Control(widgets, reconciler), want)
			assert.Nil(w.t, engine.of(widgets))
		}
		engine, err := New(w.view)
		require.NoError(w.t, err)
		require.NoError(w.t, engine.Control(widgets, w.reconciler))
		assert.NotNil(w.t, engine.of(schema.GroupVersionKind{Group: "example.dev", Version: "v7", Kind: "Widget"}), "whatever the version")
	})
}

// forgetting is a Reconciler that is told of what is gone.
type forgetting struct {
	declaring
	forget func(key deploy.Ref)
}

func (f forgetting) Forget(key deploy.Ref) { f.forget(key) }

func TestForgetter(t *testing.T) {
	t.Parallel()
	inBubble(t, "it is told of what is gone and of what left, and of nothing else, whatever the filter", func(w *world) {
		var told []string
		engine, err := New(w.view, Logger(w.logger()))
		require.NoError(w.t, err)
		require.NoError(w.t, engine.Control(widgets, forgetting{declaring{w.reconciler, source.Sources{When: filter.Never()}}, func(key deploy.Ref) {
			told = append(told, key.Name)
			panic("boom")
		}}))
		a, b := w.create(widget("a")), w.create(widget("b"))
		w.run(engine)
		w.merge(a, newSpec)
		w.settle()
		w.delete(a)
		w.settle()
		w.leave(b)
		w.settle()
		assert.Equal(w.t, []string{"a", "b"}, told)
		assert.Equal(w.t, 1, w.logs.Count(`level=ERROR msg="a forgetter panicked" kind=Widget value=boom`), "a panic is said once")
	})
	inBubble(t, "it is told once more when a reconcile ends that ran meanwhile, and may have kept something", func(w *world) {
		var told atomic.Int32
		engine, err := New(w.view, Logger(w.logger()))
		require.NoError(w.t, err)
		w.do = func(context.Context, request.Request) (request.Result, error) {
			time.Sleep(time.Minute)
			return request.Result{}, nil
		}
		require.NoError(w.t, engine.Control(widgets, forgetting{declaring{w.reconciler, source.Sources{}}, func(deploy.Ref) { told.Add(1) }}))
		a := w.create(widget("a"))
		w.run(engine)
		w.pass(time.Second)
		w.leave(a)
		w.pass(time.Second)
		assert.EqualValues(w.t, 1, told.Load())
		w.pass(time.Hour)
		assert.EqualValues(w.t, 2, told.Load())
	})
	inBubble(t, "a method that only looks like it", func(w *world) {
		engine, err := New(w.view)
		require.NoError(w.t, err)
		assert.ErrorContains(w.t, engine.Control(widgets, misforgetting{w.reconciler}), "its method Forget is (string): make it (deploy.Ref)")
	})
}

type misforgetting struct{ *reconciler }

func (misforgetting) Forget(string) {}
