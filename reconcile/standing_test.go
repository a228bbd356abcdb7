package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// among returns the counts of components by state, as a Tally has them: also those that are zero.
func among(counts map[State]int) map[string]int {
	all := map[string]int{}
	for _, state := range States() {
		all[string(state)] = counts[state]
	}
	return all
}

func TestTally(t *testing.T) {
	t.Parallel()
	t.Run("how it stands with a resource and its components", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var fails error
		c := &finalizing{}
		c.setup = func(_ context.Context, s *Session) error {
			s.Add("web", deployment("web"))
			s.Add("room", configMap("c")).After(s.Component("web"), Ready)
			s.Add("old", configMap("old")).Disable()
			return fails
		}
		r := w.reconciler(c, VersionOverride("1.2.3"))
		versions := map[string]int{"1.2.3": 1}
		assert.Equal(t, standing.Tally{Components: among(nil)}, r.Tally(), "nobody has looked yet")
		for range 2 {
			w.calm(r)
			assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{standing.Waiting: 1}, Components: among(map[State]int{Unverified: 1, Unstarted: 1, Disabled: 1}), Versions: versions}, r.Tally(), "once, however often")
		}
		w.makeReady("web")
		w.calm(r)
		assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{standing.Settled: 1}, Components: among(map[State]int{Verified: 2, Disabled: 1}), Versions: versions}, r.Tally(), "a disabled one is counted apart")
		fails = errors.New("no")
		_, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{standing.Failing: 1}, Components: among(nil), Versions: versions}, r.Tally(), "it wasn't rolled out")
		fails = request.Permanent(fails)
		_, _, err = w.once(r)
		require.Error(t, err)
		assert.Equal(t, map[standing.Standing]int{standing.Refused: 1}, r.Tally().Resources)
		fails = request.Precondition("not yet")
		w.calm(r)
		assert.Equal(t, map[standing.Standing]int{standing.Waiting: 1}, r.Tally().Resources)
		fails = nil
		w.refuse = refusing(forbidden("patch", "deployments"), "apply Deployment shop/web")
		w.merge(widgetRef, `{"spec":{"size":4}}`)
		w.delete(deploymentRef("web"))
		_, _, err = w.once(r)
		require.Error(t, err)
		assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{standing.Failing: 1}, Components: among(map[State]int{Failed: 1, Unstarted: 1, Disabled: 1}), Versions: versions}, r.Tally())
		w.pause("true")
		w.calm(r)
		assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{standing.Paused: 1}, Components: among(nil), Versions: versions}, r.Tally())
	})
	t.Run("what passes by itself says nothing new", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("room", configMap("c")) }))
		w.calm(r)
		settled := r.Tally()
		assert.Equal(t, map[standing.Standing]int{standing.Settled: 1}, settled.Resources)
		w.refuse = refusing(&deploy.StaleError{Ref: configMapRef("c"), Err: errors.New("somebody was quicker")}, "apply ConfigMap shop/c")
		w.delete(configMapRef("c"))
		_, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, settled, r.Tally(), "somebody else was quicker")
		w.refuse = refusing(&deploy.UnavailableError{Err: errors.New("down")}, "apply ConfigMap shop/c")
		_, _, err = w.once(r)
		require.Error(t, err)
		assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{standing.Failing: 1}, Components: settled.Components, Versions: settled.Versions}, r.Tally(), "nobody answered")
		w.refuse = nil
		w.calm(r)
		assert.Equal(t, settled, r.Tally())
	})
	t.Run("a reconcile that is cut off says nothing", func(t *testing.T) {
		t.Parallel()
		w, o := newWorld(t), &told{}
		ctx, cancel := context.WithCancel(t.Context())
		r := w.reconciler(adding(func(s *Session) {
			s.Add("room", configMap("c"))
			cancel()
		}), Events(o))
		_, err := r.Reconcile(ctx, widgetRequest)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, standing.Tally{Components: among(nil)}, r.Tally())
		assert.Empty(t, o.texts())
	})
	t.Run("one that is deleted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		c := &finalizing{finalize: func(context.Context, *Session) error { return errors.New("no") }}
		r := w.reconciler(c)
		w.calm(r)
		w.delete(widgetRef)
		_, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, map[standing.Standing]int{standing.Failing: 1}, r.Tally().Resources)
		c.finalize = nil
		w.calm(r)
		assert.Equal(t, map[standing.Standing]int{standing.Deleting: 1}, r.Tally().Resources, "until it is gone")
		w.calm(r)
		assert.Equal(t, standing.Tally{Resources: map[standing.Standing]int{}, Components: among(nil), Versions: map[string]int{}}, r.Tally())
	})
	t.Run("a dry run counts none", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("room", configMap("c")) }), DryRun())
		w.calm(r)
		assert.Equal(t, standing.Tally{Components: among(nil)}, r.Tally())
	})
	t.Run("what is handed out is the caller's", func(t *testing.T) {
		t.Parallel()
		r := newWorld(t).reconciler(adding(func(*Session) {}))
		r.lifecycle.Memory.Update(widgetRef, func(m *memory.Resource) { m.SetCount(memory.Count{Standing: standing.Settled}) })
		r.Tally().Resources[standing.Settled] = 7
		assert.Equal(t, map[standing.Standing]int{standing.Settled: 1}, r.Tally().Resources)
		r.lifecycle.Memory.Forget(deploy.Ref{Name: "other"})
		assert.Equal(t, map[standing.Standing]int{standing.Settled: 1}, r.Tally().Resources)
	})
}
