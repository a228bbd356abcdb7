package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatusTooLarge(t *testing.T) {
	t.Parallel()
	const components = 100
	for name, row := range map[string]struct {
		// holds is the largest resource that the cluster stores.
		holds   int
		refused int
		// lists reports whether the status still names the components.
		lists, shortened bool
	}{
		"it fits":                                     {1 << 20, 0, true, false},
		"without what the components say":             {40_000, 1, true, true},
		"without the names of the components":         {9_000, 2, false, true},
		"with nothing but the beginning of a message": {3_500, 3, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.holds = row.holds
			said := strings.Repeat("é", 1500)
			dark := func(time.Time, map[string]any) readiness.Result {
				return readiness.Result{State: readiness.InProgress, Message: said}
			}
			r := w.reconciler(adding(func(s *Session) {
				for i := range components {
					s.Add(fmt.Sprintf("a-component-with-a-long-name-%03d", i), configMap(fmt.Sprintf("c%03d", i)))
				}
			}), ReadyBy(readiness.Checker{Registry: readiness.Registry{{Kind: "ConfigMap"}: {Func: dark}}}))
			calls, _, err := w.once(r)
			require.NoError(t, err)
			assert.Equal(t, row.refused+1, count(calls, writeStatus))
			assert.Equal(t, "Initializing/VerifyWait", w.verdict(), "the status is written")
			assert.Equal(t, row.shortened, strings.HasSuffix(w.message(), "(shortened: the whole status is too large for the cluster to store)"))
			assert.True(t, utf8.ValidString(w.message()))
			state := w.widget().Object["status"].(map[string]any)["componentStatus"].(map[string]any)
			assert.Equal(t, "100/100", state["deployed"])
			assert.Equal(t, []any{"v1/ConfigMap"}, state["kinds"], "what is pruned by")
			assert.Equal(t, row.lists, len(state["allComponents"].([]any)) == components)

			calls, _, _ = w.once(r)
			assert.Zero(t, count(calls, writeStatus), "nothing is new: it isn't tried, and refused, again")

			w.holds = 0
			said = "short"
			calls, _, _ = w.once(r)
			assert.Equal(t, 1, count(calls, writeStatus))
			assert.NotContains(t, w.message(), "shortened", "a status that fits is whole again")
			assert.NotContains(t, w.condition(status.ConditionReady).Message, "shortened")
		})
	}
	t.Run("what no shortening makes fit is logged", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.holds = 10
		_, _, _ = w.once(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("c")) })))
		assert.Contains(t, w.logs.String(), "status not written")
	})
	t.Run("kinds are remembered in a resource that is nearly full", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.merge(widgetRef, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Errored","message":"`+strings.Repeat("x", 20_000)+`"}]}}`)
		w.holds = 20_100
		_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("c", elsewhere("account")) }), OwnAnywhere()))
		require.NoError(t, err)
		assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
	})
}
