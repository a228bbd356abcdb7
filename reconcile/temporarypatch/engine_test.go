package temporarypatch_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
)

const (
	soon  = 5 * time.Second
	pause = 5 * time.Millisecond
)

// run runs an engine over both controllers until the test ends.
func (w *world) engine() {
	w.t.Helper()
	logger := slog.New(slog.NewTextHandler(w.logs, nil))
	engine, err := watch.New(w.View(), watch.Logger(logger), watch.Grace(0))
	require.NoError(w.t, err)
	own, err := reconcile.New(w.patches, w.manager, reconcile.WithWatcher(engine), reconcile.Logger(logger))
	require.NoError(w.t, err)
	target, err := reconcile.New(w.control, w.manager, reconcile.WithPatches(w.patches), reconcile.WithWatcher(engine), reconcile.Logger(logger))
	require.NoError(w.t, err)
	require.NoError(w.t, engine.Control(own.Kind(), own))
	require.NoError(w.t, engine.Control(target.Kind(), target))
	ctx, stop := context.WithCancel(w.t.Context())
	var done sync.WaitGroup
	done.Go(func() { assert.NoError(w.t, engine.Run(ctx)) })
	w.t.Cleanup(func() {
		stop()
		done.Wait()
		w.cluster.Wait()
	})
}

// TestEngine needs no clock but the real one: what brings what to reconcile is the engine's.
func TestEngine(t *testing.T) {
	t.Parallel()
	t.Run("patches 24: entries and edits bring the target to reconcile", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.engine()
		becomes := func(want, why string) {
			t.Helper()
			require.Eventually(t, func() bool { return w.data("settings", "mode") == want }, soon, pause, why)
		}
		becomes("quiet", "the widget is rendered")
		ref := w.create("a", mode("loud"))
		becomes("loud", "patches 24: the entry brings the target to reconcile")
		w.merge(ref, `{"spec": {"patch": {"web": {"configmap/settings": {"data": {"mode": "louder"}}}}}}`)
		becomes("louder", "patches mistake 2: so does an edit of the patch")
		other := w.create("b", mode("loudest")+", priority: 1")
		becomes("loudest", "patches 18: later patches win")
		require.Eventually(t, func() bool { return w.condition(ref, "Applied").Reason == "Applied" }, soon, pause, "the patch says what came of it")
		require.Eventually(t, func() bool { return w.condition(other, "Applied").Reason == "Applied" }, soon, pause)
		w.delete(other)
		becomes("louder", "its removal brings it back")
		w.delete(ref)
		becomes("quiet", "and that of the last one everything")
		require.Eventually(t, func() bool { return w.get(ref) == nil }, soon, pause)

		expiring := w.create("c", mode("short")+`, expiresAt: "2030-01-02T03:04:06Z"`)
		becomes("short", "it hasn't expired yet")
		w.clock.advance(time.Second)
		becomes("quiet", "patches mistake 17: an expired patch is taken off")
		assert.NotNil(t, w.get(expiring), "and stays to tell")

		w.annotate(`{"gone": {"api_version": "operkit.dev/v1"}}`)
		require.Eventually(t, func() bool { return len(w.entries()) == 0 }, soon, pause, "patches mistake 7: the entry of a patch that isn't there goes")
	})
}

// TestTargetOnTheEngine: the patch follows its target, long before its next turn.
func TestTargetOnTheEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target := w.get(widgetRef)
	w.delete(widgetRef)
	ref := w.create("a", loud)
	w.engine()
	becomes := func(want, why string) {
		t.Helper()
		require.Eventually(t, func() bool { return w.data("settings", "mode") == want }, soon, pause, why)
	}
	require.Eventually(t, func() bool { return w.condition(ref, "Applied").Reason == temporarypatch.ReasonNoTarget }, soon, pause)
	target.SetResourceVersion("")
	target.SetUID("")
	w.put(target)
	becomes("loud", "patches 10: a target that comes after its patch")
	w.annotate(`{}`)
	require.Eventually(t, func() bool { return w.entries()["a"] != nil }, soon, pause, "one that lost the entry")
	w.delete(widgetRef)
	require.Eventually(t, func() bool { return w.condition(ref, "Applied").Reason == temporarypatch.ReasonNoTarget }, soon, pause, "one that went")
}

// TestTargetComesLater: a patch that waits needs nobody to touch it.
func TestTargetComesLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target := w.get(widgetRef)
	w.delete(widgetRef)
	require.Nil(t, w.get(widgetRef))
	w.create("a", loud)
	_, result, err := w.run(w.own, "a")
	require.NoError(t, err)
	require.Positive(t, result.RequeueAfter, "it looks again")
	target.SetResourceVersion("")
	target.SetUID("")
	_, err = w.cluster.Port().Create(t.Context(), target, deploy.CreateOptions{})
	require.NoError(t, err)
	w.patched("a")
	w.rendered()
	assert.Equal(t, "loud", w.data("settings", "mode"))
}
