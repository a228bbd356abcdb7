package watch

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDeclaredChildren(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch mistake 23: what happens to a child before the first reconcile has told of it is seen", func(w *world) {
		a := w.create(widget("a"))
		c := w.create(child("c", a))
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why(), "those that exist at the start are no reason to reconcile twice")
		w.delete(c)
		assert.Equal(w.t, []string{"child"}, w.why())
		w.create(child("d", a))
		assert.Equal(w.t, []string{"child"}, w.why())
		assert.Equal(w.t, []string{"ConfigMap", "Widget"}, w.subscriptions(), "first the children")
	})
	inBubble(t, "watch 22: a reconcile that tells of it too shares its subscription and its filter", func(w *world) {
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps, When: filter.Deletion()}}})
		a := w.create(widget("a"))
		engine := w.start()
		w.taken()
		older := widgets
		older.Version = "v1alpha1"
		for _, owner := range []schema.GroupVersionKind{widgets, older} {
			require.NoError(w.t, engine.Own(w.t.Context(), owner, configMaps))
		}
		c := w.create(child("c", a))
		assert.Empty(w.t, w.why())
		w.delete(c)
		assert.Equal(w.t, []string{"child"}, w.why())
		assert.Equal(w.t, []string{"ConfigMap", "Widget"}, w.subscriptions())
	})
	inBubble(t, "watch 20: a kind that isn't served yet is waited for, which is said once, and holds up nobody", func(w *world) {
		w.unable(configMaps, &deploy.KindUnknownError{Kind: configMaps}, nil)
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		a := w.create(widget("a"))
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why(), "at once")
		w.pass(10 * time.Minute)
		assert.Equal(w.t, 1, w.logs.Count("a kind can't be watched yet, waiting"))
		w.create(child("c", a))
		assert.Empty(w.t, w.why())
		w.unable(configMaps, nil, nil)
		w.pass(5 * time.Second)
		assert.Equal(w.t, []string{"child"}, w.why(), "and goes on by itself; what came meanwhile is news")
		assert.Equal(w.t, 1, w.logs.Count("msg=watching kind=ConfigMap version=v1"))
	})
	inBubble(t, "a cluster that doesn't answer about it holds up nobody for long", func(w *world) {
		w.asking = func(ctx context.Context, kind schema.GroupVersionKind) {
			if kind == configMaps {
				<-ctx.Done()
			}
		}
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})
		w.create(widget("a"))
		w.start()
		assert.Empty(w.t, w.why())
		w.pass(patience)
		assert.Equal(w.t, []string{"listed"}, w.why())
		began := time.Now()
		assert.NoError(w.t, w.stop())
		assert.Equal(w.t, began, time.Now(), "nor the end")
	})
}

func TestFilterOfChildren(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 25: a filter of its own for each kind that is owned", func(w *world) {
		a := w.create(widget("a"))
		c := w.create(child("c", a))
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps, When: filter.Not(filter.Created())}}})
		engine := w.start()
		require.NoError(w.t, engine.Own(w.t.Context(), widgets, secrets))
		w.settle()
		w.create(child("d", a))
		assert.Empty(w.t, w.settle(), "watch 29: DependentWatch refuses those that come")
		w.merge(c, `{"data":{"k":"v"}}`)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "not those that change")
		w.delete(c)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "nor those that go")
		secret := child("s", a)
		secret.SetGroupVersionKind(secrets)
		w.create(secret)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "another kind of child has what it had")
		w.merge(a, newSpec)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle(), "and so has the owner")
	})
	inBubble(t, "watch 26: and of each kind of owner", func(w *world) {
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps, When: filter.Never()}}})
		engine := w.engine()
		require.NoError(w.t, engine.Control(regions, w.as(source.Sources{Owned: []source.Owned{{Kind: configMaps}}})))
		w.run(engine)
		a, north := w.create(widget("a")), w.create(object(regions, "", "north"))
		assert.Equal(w.t, []string{"Region north", "Widget shop/a"}, w.settle())
		w.create(child("c", a, north))
		assert.Equal(w.t, []string{"Region north"}, w.settle())
	})
	inBubble(t, "watch 29: a repetition is nobody's, whatever the filter", func(w *world) {
		w.declare(source.Sources{Owned: []source.Owned{{Kind: configMaps, When: filter.Always()}}})
		w.start()
		c := child("c", w.create(widget("a")))
		c.SetResourceVersion("7")
		w.settle()
		w.emit(deploy.Event{Type: deploy.Modified, Old: c, New: c})
		assert.Empty(w.t, w.settle())
	})
}

// byLabel maps an object to the widget that its label names.
func byLabel(event deploy.Event) []deploy.Ref {
	if name := event.New.GetLabels()["widget"]; name != "" {
		return []deploy.Ref{{Namespace: "shop", Name: name}}
	}
	return nil
}

func TestMapped(t *testing.T) {
	t.Parallel()
	inBubble(t, "watch 21, 24: a user's function says whom an event of another kind concerns", func(w *world) {
		w.create(widget("a"))
		north := object(regions, "", "north")
		north.SetLabels(map[string]string{"widget": "a"})
		w.create(north)
		w.declare(source.Sources{Mapped: []source.Mapped{{Kind: regions, Keys: byLabel}}})
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why(), "what exists at the start is no reason to reconcile twice")
		w.mergeStatus(north, `{"status":{"cold":true}}`)
		assert.Equal(w.t, []string{"mapped"}, w.why(), "its status too")
		w.merge(north, `{"metadata":{"labels":{"widget":null}}}`)
		assert.Empty(w.t, w.why(), "a function sees what it is given: old and new")
		w.delete(north)
		assert.Empty(w.t, w.why())
	})
	inBubble(t, "watch 25, 26: each has a filter of its own, and the same kind may be mapped twice", func(w *world) {
		w.create(widget("a"))
		w.create(widget("b"))
		toB := func(deploy.Event) []deploy.Ref { return []deploy.Ref{key("b")} }
		w.declare(source.Sources{Mapped: []source.Mapped{
			{Kind: regions, When: filter.Deletion(), Keys: byLabel}, {Kind: regions, When: filter.Created(), Keys: toB},
		}})
		w.start()
		w.taken()
		north := object(regions, "", "north")
		north.SetLabels(map[string]string{"widget": "a"})
		w.create(north)
		assert.Equal(w.t, []string{"Widget shop/b"}, w.settle())
		w.delete(north)
		assert.Equal(w.t, []string{"Widget shop/a"}, w.settle())
	})
	inBubble(t, "watch 20: a kind that isn't served yet is waited for", func(w *world) {
		w.unable(regions, &deploy.KindUnknownError{Kind: regions}, nil)
		w.create(widget("a"))
		w.declare(source.Sources{Mapped: []source.Mapped{{Kind: regions, Keys: byLabel}}})
		w.start()
		assert.Equal(w.t, []string{"listed"}, w.why())
		w.unable(regions, nil, nil)
		w.pass(5 * time.Second)
		north := object(regions, "", "north")
		north.SetLabels(map[string]string{"widget": "a"})
		w.create(north)
		assert.Equal(w.t, []string{"mapped"}, w.why())
	})
	inBubble(t, "while the controlled kind isn't served nobody is brought", func(w *world) {
		w.unable(widgets, &deploy.KindUnknownError{Kind: widgets}, nil)
		w.declare(source.Sources{Mapped: []source.Mapped{{Kind: regions, Keys: byLabel}}})
		w.start()
		north := object(regions, "", "north")
		north.SetLabels(map[string]string{"widget": "a"})
		w.create(north)
		w.pass(time.Hour)
		assert.Empty(w.t, w.why())
		w.create(widget("a"))
		w.unable(widgets, nil, nil)
		w.pass(5 * time.Second)
		assert.Equal(w.t, []string{"listed"}, w.why())
	})
	inBubble(t, "watch mistake 12: a function that panics concerns nobody, and is told of once", func(w *world) {
		w.create(widget("a"))
		w.declare(source.Sources{Mapped: []source.Mapped{{Kind: regions, Keys: func(deploy.Event) []deploy.Ref { panic("boom") }}}})
		w.start()
		w.taken()
		for _, name := range []string{"north", "south"} {
			w.create(object(regions, "", name))
		}
		assert.Empty(w.t, w.settle())
		assert.Equal(w.t, 1, w.logs.Count("a mapping panicked"))
	})
}
