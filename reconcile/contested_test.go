package reconcile

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two installs of one operator whose content differs.
func TestContested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, o := newWorld(t), &told{}
		install := func(value string, options ...Option) *Reconciler {
			return w.reconciler(adding(func(s *Session) {
				obj := configMap("c")
				obj.Object["data"] = map[string]any{"of": value}
				s.Add("web", obj)
				s.Add("other", configMap("d"))
			}), options...)
		}
		ours, theirs := install("ours", Events(o)), install("theirs")
		for range 5 {
			_, _, _ = w.once(ours)
			_, _, _ = w.once(theirs)
		}
		o.texts()
		calls, _, err := w.once(ours)
		assert.Empty(t, calls, "neither the object nor the status is written")
		require.ErrorContains(t, err, `component web: ConfigMap shop/c: another process applies this object as the same field manager "operkit"`)
		after, timed := request.RetryTime(err)
		assert.True(t, timed && after > 0 && after <= 2*time.Minute, "it comes back by itself in %s", after)
		assert.Equal(t, 1, ours.Tally().Contested)
		assert.Equal(t, map[Standing]int{Failing: 1}, ours.Tally().Resources)
		assert.Empty(t, o.texts(), "it was said")
		updating := w.condition(status.ConditionUpdating)
		assert.Equal(t, string(status.UpdatingClusterError), updating.Reason)
		assert.Contains(t, updating.Message, "is the operator installed twice?")

		// A restart counts anew.
		again := install("ours", Events(o))
		for range 10 {
			_, _, _ = w.once(again)
			_, _, _ = w.once(theirs)
		}
		// The other one is alone for a minute, so that each tries once more.
		time.Sleep(time.Minute)
		for range 5 {
			_, _, _ = w.once(theirs)
			_, _, _ = w.once(ours)
		}
		o.texts()
		for start := time.Now(); ; {
			if _, _, err = w.once(ours); err == nil {
				break
			}
			after, _ = request.RetryTime(err)
			require.Less(t, time.Since(start), 4*time.Minute)
			time.Sleep(after)
		}
		assert.Zero(t, ours.Tally().Contested)
		assert.Equal(t, map[Standing]int{Settled: 1}, ours.Tally().Resources)
		assert.Empty(t, o.texts())
		assert.Equal(t, "ours", w.get(configMapRef("c")).Object["data"].(map[string]any)["of"])
		assert.Empty(t, w.calm(ours), "an unchanged resource costs no call")
	})
}

func TestContestedEvent(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t), &told{}
	install := func(value string, options ...Option) *Reconciler {
		return w.reconciler(adding(func(s *Session) {
			obj := configMap("c")
			obj.Object["data"] = map[string]any{"of": value}
			s.Add("web", obj)
		}), options...)
	}
	ours, theirs := install("ours", Events(o)), install("theirs")
	for range 20 {
		_, _, _ = w.once(ours)
		_, _, _ = w.once(theirs)
	}
	var warnings []string
	for _, text := range o.texts() {
		if text[:7] == "Warning" {
			warnings = append(warnings, text)
		}
	}
	require.Len(t, warnings, 1, "it is said once")
	assert.Contains(t, warnings[0], "Warning Contested: component web: ConfigMap shop/c: another process applies this object as the same field manager")
}
