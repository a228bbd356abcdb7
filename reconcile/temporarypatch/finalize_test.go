package temporarypatch_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
)

func TestFinalize(t *testing.T) {
	t.Parallel()
	t.Run("patches 12: only its entry goes, and the last one leaves {}", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		a, b := w.create("a", loud), w.create("b", loud)
		w.patched("a")
		w.patched("b")
		w.delete(a)
		assert.Equal(t, []string{patchWidget, "patch TemporaryPatch shop/a"}, w.patched("a"))
		assert.Nil(t, w.get(a))
		assert.Len(t, w.entries(), 1)
		assert.Contains(t, w.entries(), "b")
		w.delete(b)
		w.patched("b")
		assert.Equal(t, "{}", w.get(widgetRef).GetAnnotations()[annotation])
	})
	t.Run("patches mistake 16: the entry is taken off once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		edits := 0
		w.port.before = func(at deploy.Ref) {
			if at == widgetRef {
				edits++
			}
		}
		w.patched("a")
		assert.Equal(t, 1, edits)
		assert.Empty(t, w.entries())
	})
	t.Run("patches mistake 15: the patch is gone before the target has been rendered without it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.rendered()
		w.delete(ref)
		w.patched("a")
		assert.Nil(t, w.get(ref))
		assert.Equal(t, "loud", w.data("settings", "mode"), "the documentation says so")
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"), "the edit of the annotation brings it there")
	})
	for reason, prepare := range map[string]func(w *world){
		"patches 12: the target is gone":                func(w *world) { w.delete(widgetRef) },
		"patches 12: it has no annotation":              func(w *world) { w.merge(widgetRef, `{"metadata": {"annotations": null}}`) },
		"patches 12: the annotation has no such entry":  func(w *world) { w.annotate(`{}`) },
		"patches 6: the kind can't be patched any more": func(w *world) { w.restart([]string{"Gadget"}) },
		"patches 12: the target goes in the middle of it": func(w *world) {
			w.port.before = func(ref deploy.Ref) {
				w.port.before = nil
				w.delete(widgetRef)
			}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ref := w.create("a", loud)
			w.patched("a")
			w.delete(ref)
			prepare(w)
			w.patched("a")
			assert.Nil(t, w.get(ref), "the finalizer is removed")
		})
	}
	t.Run("a target whose kind isn't served any more holds nothing up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		w.view.fail(widgets, &deploy.KindUnknownError{Kind: widgets})
		w.patched("a")
		assert.Nil(t, w.get(ref))
	})
	t.Run("patches 12: a target that can't be read keeps the finalizer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		w.view.fail(widgets, &deploy.ForbiddenError{Verb: "get", Err: errors.New("no")})
		_, _, err := w.run(w.own, "a")
		require.ErrorContains(t, err, "finalize: target Widget shop/w: ")
		assert.Equal(t, []string{finalizer}, w.get(ref).GetFinalizers())
	})
	t.Run("patches 12: a write that fails keeps the finalizer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		require.NoError(t, w.cluster.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: widgets, Code: 403}))
		_, _, err := w.run(w.own, "a")
		var forbidden *deploy.ForbiddenError
		require.ErrorAs(t, err, &forbidden)
		assert.Equal(t, []string{finalizer}, w.get(ref).GetFinalizers())
	})
	t.Run("a patch that never had a target goes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.merge(ref, `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
		w.delete(ref)
		w.patched("a")
		assert.Nil(t, w.get(ref))
	})
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.create("a", loud+`, expiresAt: "2030-01-02T03:34:05Z"`)
	_, result, err := w.run(w.own, "a")
	require.NoError(t, err)
	assert.Equal(t, time.Second, result.RequeueAfter, "while it isn't known what the target makes of it")
	w.rendered()
	assert.Equal(t, "loud", w.data("settings", "mode"))
	_, result, err = w.run(w.own, "a")
	require.NoError(t, err)
	assert.Equal(t, 10*time.Minute, result.RequeueAfter)
	w.clock.advance(25 * time.Minute)
	_, result, err = w.run(w.own, "a")
	require.NoError(t, err)
	assert.Equal(t, 4*time.Minute+56*time.Second, result.RequeueAfter, "patches mistake 17: it comes back in time")
	w.clock.advance(result.RequeueAfter)
	assert.Equal(t, []string{patchWidget, "patch TemporaryPatch shop/a status"}, w.patched("a"))
	assert.Empty(t, w.entries(), "patches mistake 17: the entry is removed")
	assert.Equal(t, "Expired: expired at 2030-01-02T03:34:05Z", w.condition(ref, "Applied").Reason+": "+w.condition(ref, "Applied").Message)
	assert.Equal(t, "Stable/Stable", w.verdict(ref))
	w.rendered()
	assert.Equal(t, "quiet", w.data("settings", "mode"))
	_, result, err = w.run(w.own, "a")
	require.NoError(t, err)
	assert.Equal(t, 10*time.Minute, result.RequeueAfter)

	w.merge(ref, `{"spec": {"expiresAt": "2031-01-01T00:00:00Z"}}`)
	w.patched("a")
	assert.Contains(t, w.entries(), "a", "a new lease of life")
}

func TestExpiredBeforeItsControllerNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("a", loud+`, expiresAt: "2030-01-02T03:34:05Z"`)
	w.patched("a")
	w.clock.advance(time.Hour)
	w.rendered()
	assert.Equal(t, "quiet", w.data("settings", "mode"), "patches mistake 17")
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.create("a", loud)
	dry, err := reconcile.New(w.patches, w.manager, reconcile.DryRun(), reconcile.FinalizerName(finalizer))
	require.NoError(t, err)
	_, _, err = w.run(dry, "a")
	require.NoError(t, err)
	assert.Nil(t, w.entries(), "nothing is written on the target")
	w.patched("a")
	w.delete(ref)
	w.calls.Take()
	_, _, err = w.run(dry, "a")
	require.NoError(t, err)
	assert.Contains(t, w.entries(), "a")
}

// A patch may expire after the reconcile that recorded it has looked at the clock.
func TestExpiryWhileReconciled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.create("a", loud+`, expiresAt: "2030-01-02T03:34:05Z"`)
	w.port.before = func(written deploy.Ref) {
		if written == widgetRef {
			w.clock.advance(time.Hour)
		}
	}
	_, result, err := w.run(w.own, "a")
	require.NoError(t, err)
	w.port.before = nil
	assert.Contains(t, w.entries(), "a", "when it looked, the patch held")
	require.Equal(t, time.Second, result.RequeueAfter, "patches mistake 17: nothing else would bring it back")
	_, result, err = w.run(w.own, "a")
	require.NoError(t, err)
	assert.Empty(t, w.entries())
	assert.Equal(t, "Expired", w.condition(ref, "Applied").Reason)
	for range 2 { // one more look, and then the usual time
		_, result, err = w.run(w.own, "a")
		require.NoError(t, err)
	}
	assert.Equal(t, 10*time.Minute, result.RequeueAfter)
}
