package reconcile

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noting has an object that says what the widget's size is.
func noting() *controller {
	return adding(func(s *Session) {
		note := configMap("note")
		note.Object["data"] = map[string]any{"size": s.Resource().Object["spec"].(map[string]any)["size"]}
		s.Add("c", note)
	})
}

// sized is the size that the note says.
func (w *world) sized() any {
	w.t.Helper()
	return w.get(configMapRef("note")).Object["data"].(map[string]any)["size"]
}

// grow has somebody change the spec.
func (w *world) grow() { w.merge(widgetRef, `{"spec":{"size":"4"},"metadata":{"generation":2}}`) }

// filtered is a noting controller whose events have to pass a filter.
type filtered struct {
	*controller
	when filter.Predicate
}

func (f filtered) Sources() source.Sources { return source.Sources{When: f.when} }

func TestPauseOnTheEngine(t *testing.T) {
	t.Parallel()
	named := func(name string) Controller {
		set, err := filter.Named(name, "")
		require.NoError(t, err)
		return filtered{noting(), set}
	}
	for _, row := range []struct {
		reason string
		c      Controller
		// told: the beginning of a pause passes the filter.
		told bool
	}{
		{"watch mistake 10: a spec that changes under the pause", noting(), true},
		{"watch 29: the same behind oper8's filters, which don't see a pause begin", named("default"), false},
		{"watch 29: the same behind a filter of annotations", named("annotation"), true},
	} {
		onEngine(t, row.reason, row.c, func(w *world, start func()) {
			start()
			assert.Equal(w.t, []string{"apply ConfigMap shop/note", writeStatus}, w.settle())
			w.pause("true")
			if row.told {
				assert.Equal(w.t, []string{writeStatus}, w.settle(), "reconcile 38: but for the condition nothing happens")
			}
			w.grow()
			w.delete(configMapRef("note"))
			calls := w.settle()
			if row.told {
				assert.Empty(w.t, calls)
			}
			assert.Nil(w.t, w.get(configMapRef("note")))
			assert.True(w.t, w.isPaused())
			time.Sleep(2 * time.Hour)
			assert.Empty(w.t, w.settle(), "not with time either")
			w.unpause()
			assert.Equal(w.t, []string{"apply ConfigMap shop/note", writeStatus}, w.settle(), "the end of the pause is enough")
			assert.Equal(w.t, "4", w.sized())
			assert.False(w.t, w.isPaused())
			assert.Equal(w.t, int64(2), w.condition(status.ConditionReady).ObservedGeneration)
			time.Sleep(2 * time.Hour)
			assert.Empty(w.t, w.settle())
		})
	}

	onEngine(t, "watch mistake 10: unpausing alone triggers", noting(), func(w *world, start func()) {
		w.pause("true")
		start()
		assert.Equal(w.t, []string{writeStatus}, w.settle())
		w.pause("false")
		assert.Equal(w.t, []string{"apply ConfigMap shop/note", writeStatus}, w.settle())
		assert.Equal(w.t, "Stable/Stable", w.verdict())
	})

	onEngine(t, "watch mistake 2: a paused one that is deleted is gone", noting(), func(w *world, start func()) {
		w.pause(time.Now().Add(time.Hour).Format(time.RFC3339))
		start()
		assert.Equal(w.t, []string{writeStatus}, w.settle())
		w.delete(widgetRef)
		assert.Empty(w.t, w.settle())
		time.Sleep(2 * time.Hour)
		assert.Empty(w.t, w.settle())
		assert.Nil(w.t, w.get(widgetRef))
	})

	onEngine(t, "watch 18: deletion under the pause", &finalizing{controller: *noting()}, func(w *world, start func()) {
		start()
		assert.Equal(w.t, []string{patchWidget, "apply ConfigMap shop/note", writeStatus}, w.settle())
		w.pause("true")
		assert.Equal(w.t, []string{writeStatus}, w.settle())
		w.delete(widgetRef)
		assert.Equal(w.t, []string{patchWidget}, w.settle())
		assert.Nil(w.t, w.get(widgetRef))
		assert.Nil(w.t, w.get(configMapRef("note")), "and collected")
	})

	onEngine(t, "watch 18: deletion that waits for the end of the pause", &finalizing{controller: *noting()}, func(w *world, start func()) {
		start()
		w.settle()
		w.pause("true")
		w.settle()
		w.delete(widgetRef)
		assert.Empty(w.t, w.settle())
		time.Sleep(2 * time.Hour)
		assert.Empty(w.t, w.settle())
		assert.Equal(w.t, []string{ours}, w.widget().GetFinalizers())
		w.unpause()
		assert.Equal(w.t, []string{patchWidget}, w.settle())
		assert.Nil(w.t, w.get(widgetRef))
	}, PauseDeletions())

	onEngine(t, "reconcile 38: until a time, to the moment, however far", noting(), func(w *world, start func()) {
		start()
		w.settle()
		until := time.Now().Add(25*time.Hour + 1500*time.Millisecond)
		w.pause(until.Format(time.RFC3339Nano))
		assert.Equal(w.t, []string{writeStatus}, w.settle())
		assert.Equal(w.t, ReasonPausedUntil, w.condition(ConditionPaused).Reason)
		w.grow()
		time.Sleep(25 * time.Hour)
		assert.Empty(w.t, w.settle(), "neither it nor the time that passes costs a call")
		time.Sleep(1500 * time.Millisecond)
		assert.Equal(w.t, []string{"apply ConfigMap shop/note", writeStatus}, w.settle())
		assert.Equal(w.t, "4", w.sized())
		assert.False(w.t, w.isPaused())
	})
}

// An operator that starts anew, again and again, writes no more than the first one.
func TestPauseAndRestart(t *testing.T) {
	t.Parallel()
	inBubble(t, "reconcile 38: a restart while paused writes nothing", func(w *world) {
		w.pause("2100-01-01T00:00:00Z")
		for _, want := range [][]string{{writeStatus}, nil, nil} {
			r, start := w.engine(noting())
			stop := start()
			assert.Equal(w.t, want, w.settle())
			w.grow()
			assert.Empty(w.t, w.settle())
			assert.Equal(w.t, 1, r.Tally().Resources[standing.Paused])
			stop()
		}
	})
	inBubble(t, "watch mistake 2: what is gone isn't counted, whatever the filter", func(w *world) {
		w.pause("true")
		r, start := w.engine(filtered{noting(), filter.Created()})
		defer start()()
		w.settle()
		assert.Equal(w.t, 1, r.Tally().Resources[standing.Paused])
		w.delete(widgetRef)
		assert.Empty(w.t, w.settle())
		assert.Zero(w.t, r.Tally().Resources[standing.Paused])
	})
}
