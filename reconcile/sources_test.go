package reconcile

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declaring is a controller with Sources.
type declaring struct {
	Controller
	sources source.Sources
}

func (d declaring) Sources() source.Sources { return d.sources }

// misdeclaring has a method that is taken for Sources, and isn't.
type misdeclaring struct{ Controller }

func (misdeclaring) Sources() []source.Owned { return nil }

func TestSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nothing := adding(func(*Session) {})
	owned := []source.Owned{{Kind: configMaps}}
	assert.Equal(t, owned, w.reconciler(declaring{nothing, source.Sources{Owned: owned}}).Sources().Owned)
	assert.Equal(t, source.Sources{}, w.reconciler(nothing).Sources(), "a controller needn't say anything")
	for _, row := range []struct {
		controller Controller
		want       string
	}{
		{misdeclaring{nothing}, "reconcile.misdeclaring: its method Sources is () []source.Owned: make it () source.Sources"},
		{declaring{nothing, source.Sources{Owned: []source.Owned{{}}}},
			`controller reconcile.declaring: its sources: owned[0]: kind "/, Kind=": needs a version and a kind`},
	} {
		_, err := New(row.controller, must(deploy.NewManager(w)))
		assert.EqualError(t, err, row.want)
	}
}

func TestSourcesOnTheEngine(t *testing.T) {
	t.Parallel()
	secrets := source.Mapped{Kind: secretKind, Keys: func(event deploy.Event) []deploy.Ref {
		return []deploy.Ref{{Namespace: event.New.GetNamespace(), Name: "w"}}
	}}
	counting := adding(func(s *Session) {
		found, err := s.List(context.Background(), secretKind, "shop", nil)
		if err != nil {
			panic(err)
		}
		note := configMap("note")
		note.Object["data"] = map[string]any{"secrets": string(rune('0' + len(found)))}
		s.Add("c", note)
	})
	sources := source.Sources{When: filter.Or(filter.Lifecycle(), filter.Generation()), Mapped: []source.Mapped{secrets}}
	onEngine(t, "watch 21: what a controller declares counts", declaring{counting, sources}, func(w *world, start func()) {
		start()
		assert.Equal(w.t, []string{"apply ConfigMap shop/note", writeStatus}, w.settle())
		_, err := w.memory.Port().Create(w.t.Context(), object(secretKind, "theirs"), deploy.CreateOptions{FieldManager: "they"})
		require.NoError(w.t, err)
		assert.Equal(w.t, []string{"apply ConfigMap shop/note"}, w.settle(), "another kind concerns it")
	})
	var setups int
	labelled := adding(func(*Session) { setups++ })
	onEngine(t, "watch 28: its filter too", declaring{labelled, source.Sources{When: filter.Or(filter.Lifecycle(), filter.Generation())}},
		func(w *world, start func()) {
			start()
			w.settle()
			before := setups
			w.merge(widgetRef, `{"metadata":{"labels":{"a":"b"}}}`)
			w.settle()
			assert.Equal(w.t, before, setups)
			w.merge(widgetRef, `{"metadata":{"annotations":{"operkit.dev/reconcile-at":"now"}}}`)
			w.settle()
			assert.Equal(w.t, before+1, setups, "but for a reconcile that is asked for")
		})
	onEngine(t, "watch mistake 23: a child that goes before the first reconcile is put back", declaring{
		adding(func(s *Session) { s.Add("c", configMap("c")) }), source.Sources{Owned: []source.Owned{{Kind: configMaps}}},
	}, func(w *world, start func()) {
		start()
		w.settle()
		w.delete(configMapRef("c"))
		assert.Equal(w.t, []string{"apply ConfigMap shop/c"}, w.settle())
	})
}
