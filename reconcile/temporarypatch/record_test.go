package temporarypatch_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

const loud = "patchType: strategic, patch: {web: {configmap/settings: {data: {mode: loud}}}}"

func TestRecord(t *testing.T) {
	t.Parallel()
	t.Run("patches 7, 11: a new patch on a bare target", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		writes := w.patched("a")
		assert.Equal(t, []string{"patch TemporaryPatch shop/a", patchWidget, "patch TemporaryPatch shop/a status", "patch TemporaryPatch shop/a status"}, writes)
		assert.Equal(t, []string{finalizer}, w.get(ref).GetFinalizers())
		assert.Equal(t, map[string]map[string]any{"a": {
			"timestamp": "2030-01-02T03:04:06Z", "api_version": "operkit.dev/v1", "kind": "TemporaryPatch",
			"generation": float64(1), "uid": string(w.get(ref).GetUID()),
		}}, w.entries(), "patches mistake 9: the time is UTC and says so")
		assert.Equal(t, "Stable/Stable", w.verdict(ref), "patches 14: with the entry there it is ready")
	})
	t.Run("patches 14: with the entry there it is ready, without objects", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		assert.Equal(t, "Stable/Stable", w.verdict(ref))
		assert.Len(t, w.cluster.Objects(), 3, "the definition, the widget and the patch")
	})
	t.Run("patches 11: an entry that is there is left alone", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.patched("a")
		before := w.entries()
		assert.Empty(t, w.patched("a"))
		assert.Equal(t, before, w.entries())
	})
	t.Run("patches 11: one that oper8 wrote keeps its time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.annotate(`{"a": {"timestamp": "2020-01-02T03:04:05.678", "api_version": "operkit.dev/v1"}}`)
		w.create("a", loud)
		w.patched("a")
		assert.Equal(t, "2020-01-02T03:04:05.678", w.entries()["a"]["timestamp"])
		assert.EqualValues(t, 1, w.entries()["a"]["generation"])
	})
	t.Run("patches 11: beside others, and what they say stays", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.annotate(`{"b": {"timestamp": "2020-01-02T03:04:05", "api_version": "oper8.org/v1", "extra": [1]}, "c": 7}`)
		w.create("a", loud)
		w.patched("a")
		assert.Contains(t, w.get(widgetRef).GetAnnotations()[annotation],
			`"b":{"timestamp":"2020-01-02T03:04:05","api_version":"oper8.org/v1","extra":[1]},"c":7`)
	})
	t.Run("patches mistake 2: an edit of the patch changes the entry, not its time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		before := w.entries()["a"]["timestamp"]
		w.merge(ref, `{"spec": {"priority": 3}}`)
		assert.Contains(t, w.patched("a"), patchWidget)
		assert.EqualValues(t, 2, w.entries()["a"]["generation"])
		assert.Equal(t, before, w.entries()["a"]["timestamp"])
	})
	t.Run("patches mistake 2: so does a patch that was made anew, with its time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		before := w.entries()["a"]
		w.merge(ref, `{"metadata": {"finalizers": null}}`)
		w.delete(ref)
		w.create("a", loud)
		w.patched("a")
		assert.NotEqual(t, before["uid"], w.entries()["a"]["uid"])
		assert.NotEqual(t, before["timestamp"], w.entries()["a"]["timestamp"])
	})
	t.Run("an entry of no sense is made anew", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{`7`, `{}`, `{"timestamp": 7, "api_version": "operkit.dev/v1"}`, `{"timestamp": "x", "api_version": "operkit.dev/v1"}`, `{"api_version": "a/b/c"}`} {
			w := newWorld(t)
			w.annotate(`{"a": ` + text + `}`)
			w.create("a", loud)
			w.patched("a")
			assert.Equal(t, "2030-01-02T03:04:06Z", w.entries()["a"]["timestamp"], text)
		}
	})
	t.Run("a patch of another group with the same name keeps its entry", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.annotate(`{"a": {"timestamp": "2020-01-02T03:04:05Z", "api_version": "oper8.org/v1"}}`)
		ref := w.create("a", loud)
		_, _, err := w.run(w.own, "a")
		assert.EqualError(t, err, "component temporarypatch: target Widget w: annotation "+annotation+
			": a TemporaryPatch.oper8.org of the same name has that entry already: rename one of them")
		assert.Equal(t, "ConfigError/Errored", w.verdict(ref))
		w.delete(ref)
		w.patched("a")
		assert.Nil(t, w.get(ref))
		assert.Contains(t, w.entries(), "a")
	})
}

func TestTargetNeverTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.delete(widgetRef)
	w.put(object(`{apiVersion: example.dev/v1, kind: Widget, metadata: {name: w, namespace: shop, annotations: {theirs: "yes"}}, spec: {size: 3}}`))
	before := w.get(widgetRef)
	w.create("a", loud)
	w.patched("a")
	after := w.get(widgetRef)
	assert.Empty(t, after.GetOwnerReferences(), "patches 13: no owner references")
	assert.Equal(t, before.Object["spec"], after.Object["spec"])
	assert.Equal(t, "yes", after.GetAnnotations()["theirs"])
	var ours []metav1.ManagedFieldsEntry
	for _, e := range after.GetManagedFields() {
		if e.Manager == w.manager.FieldManager() {
			ours = append(ours, e)
		}
	}
	require.Len(t, ours, 1, "patches mistake 5: the annotation is all that is owned")
	assert.JSONEq(t, `{"f:metadata": {"f:annotations": {"f:`+annotation+`": {}}}}`, ours[0].FieldsV1.GetRawString())
}

func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	t.Run("patches mistake 6: an entry that is added meanwhile isn't lost", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.port.before = func(ref deploy.Ref) {
			if ref == widgetRef {
				w.port.before = nil
				w.annotate(`{"b": {"timestamp": "2020-01-02T03:04:05Z", "api_version": "operkit.dev/v1"}}`)
			}
		}
		writes := w.patched("a")
		assert.Equal(t, []string{patchWidget, "get Widget shop/w", patchWidget}, writes[2:5], "refused, read, written")
		assert.Len(t, w.entries(), 2)
	})
	t.Run("patches mistake 6: somebody who never stops", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		edits := 0
		w.port.before = func(ref deploy.Ref) {
			if ref == widgetRef {
				edits++
				w.merge(widgetRef, fmt.Sprintf(`{"metadata": {"labels": {"edit": "%d"}}}`, edits))
			}
		}
		_, _, err := w.run(w.own, "a")
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		assert.Equal(t, 5, edits)
		assert.Nil(t, w.entries())
	})
	t.Run("patches mistake 6: the target goes meanwhile", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.port.before = func(at deploy.Ref) {
			if at == widgetRef {
				w.port.before = nil
				w.delete(widgetRef)
			}
		}
		w.patched("a")
		assert.Equal(t, "Initializing/PreconditionWait", w.verdict(ref))
	})
	t.Run("patches mistake 6: ten at once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var all sync.WaitGroup
		for i := range 10 {
			name := fmt.Sprintf("p%d", i)
			w.create(name, loud)
			all.Go(func() {
				var stale *deploy.StaleError
				for {
					_, err := w.own.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: w.patches.Kind(), Namespace: "shop", Name: name}})
					if !errors.As(err, &stale) {
						assert.NoError(t, err)
						return
					}
				}
			})
		}
		all.Wait()
		assert.Len(t, w.entries(), 10)
	})
}

// The parent renders a child again and again; nothing of the child's patches goes lost (spec: patches 23).
func TestChildKeepsItsPatches(t *testing.T) {
	t.Parallel()
	t.Run("patches 23: carried over whenever the parent renders its child", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		child := deploy.Ref{Kind: widgets, Namespace: "shop", Name: "child"}
		size := 1
		w.control.more = func(s *reconcile.Session) {
			s.Add("child", object(fmt.Sprintf(`{apiVersion: example.dev/v1, kind: Widget, metadata: {name: child}, spec: {size: %d}}`, size)))
		}
		w.rendered()
		w.create("parents", loud)
		w.createFor("a", "apiVersion: example.dev/v1, kind: Widget, name: child, "+loud)
		w.patched("a")
		w.patched("parents")
		before := w.get(child).GetAnnotations()[annotation]
		require.Contains(t, before, `"a"`)
		size = 2
		assert.Contains(t, w.rendered(), "apply Widget shop/child")
		assert.Equal(t, before, w.get(child).GetAnnotations()[annotation], "patches 23: carried over, and the parent's own isn't handed down")
		assert.NotContains(t, w.rendered(), "apply Widget shop/child", "patches 23: it is no drift")
	})
}

func TestOwnFieldsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.create("a", loud)
	w.mergeInto(ref, `{"status": {"conditions": [{"type": "Theirs", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2030-01-01T00:00:00Z"}]}}`, "status")
	w.patched("a")
	assert.Equal(t, "R", w.condition(ref, "Theirs").Reason)
	assert.Equal(t, types.UID(w.entries()["a"]["uid"].(string)), w.get(ref).GetUID())
}
