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
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

func TestTargetErrors(t *testing.T) {
	t.Parallel()
	t.Run("patches 10: no target: it waits, and is there when the target is", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		target := w.get(widgetRef)
		w.delete(widgetRef)
		ref := w.create("a", loud)
		_, result, err := w.run(w.own, "a")
		require.NoError(t, err)
		assert.Equal(t, time.Minute, result.RequeueAfter)
		assert.Equal(t, "Initializing/PreconditionWait", w.verdict(ref))
		assert.Equal(t, "temporarypatch: waiting for the target Widget w", w.condition(ref, "Updating").Message)
		assert.Equal(t, temporarypatch.ReasonNoTarget, w.condition(ref, "Applied").Reason)
		target.SetResourceVersion("")
		w.put(target)
		w.patched("a")
		assert.Equal(t, "Stable/Stable", w.verdict(ref))
		assert.Contains(t, w.entries(), "a")
	})
	for reason, row := range map[string]struct {
		prepare func(w *world)
		err     string
		verdict string
	}{
		"patches 10: the lookup fails": {
			func(w *world) {
				w.view.fail(widgets, &deploy.ForbiddenError{Verb: "get", Err: errors.New("no")})
			}, "component temporarypatch: target Widget shop/w: ", "Initializing/ClusterError"},
		"patches 11: the annotation is no JSON": {
			func(w *world) { w.annotate(`{`) }, "annotation " + annotation + " of Widget w: not a JSON object", "ConfigError/Errored"},
		"patches 11: it is no object": {
			func(w *world) { w.annotate(`[]`) }, "annotation " + annotation + " of Widget w: not a JSON object", "ConfigError/Errored"},
		"patches 11: it is null": {
			func(w *world) { w.annotate(`null`) }, "annotation " + annotation + " of Widget w: not a JSON object: it is null", "ConfigError/Errored"},
		"patches 13: the write is refused": {
			func(w *world) {
				require.NoError(w.t, w.cluster.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: widgets, Code: 403}))
			}, "component temporarypatch: target Widget w: ", "Initializing/ClusterError"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ref := w.create("a", loud)
			row.prepare(w)
			_, _, err := w.run(w.own, "a")
			require.ErrorContains(t, err, row.err)
			assert.Equal(t, row.verdict, w.verdict(ref))
		})
	}
	t.Run("a target without namespace", func(t *testing.T) {
		t.Parallel()
		w := newWorldOf(t, []string{"v1/Namespace"}, nil)
		ref := w.createFor("a", "apiVersion: v1, kind: Namespace, name: shop, "+loud)
		_, _, err := w.run(w.own, "a")
		require.EqualError(t, err, "component temporarypatch: spec.kind: a Namespace is cluster-scoped: only resources in the patch's namespace can be patched")
		assert.Equal(t, "ConfigError/Errored", w.verdict(ref))
		w.delete(ref)
		w.patched("a")
		assert.Nil(t, w.get(ref))
	})
	t.Run("a kind that isn't served", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.port.unserved = widgets
		_, _, err := w.run(w.own, "a")
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, "Initializing/ClusterError", w.verdict(ref))
	})
	t.Run("patches 10: no target, but an expiry: it looks as often as without", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.delete(widgetRef)
		w.create("a", loud+`, expiresAt: "2031-01-02T03:34:05Z"`)
		_, result, err := w.run(w.own, "a")
		require.NoError(t, err)
		assert.Equal(t, time.Minute, result.RequeueAfter)
	})
	t.Run("patches 13: the write isn't answered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		require.NoError(t, w.cluster.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: widgets, Code: 503}))
		_, _, err := w.run(w.own, "a")
		var unavailable *deploy.UnavailableError
		require.ErrorAs(t, err, &unavailable)
	})
}

func TestMissingFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for reason, row := range map[string]struct{ spec, field string }{
		"patches mistake 18: no name":               {"apiVersion: v1, kind: A, patchType: json, patch: {a: {}}", "spec.name"},
		"patches mistake 18: no kind":               {"apiVersion: v1, name: a, patchType: json, patch: {a: {}}", "spec.kind"},
		"patches mistake 18: no apiVersion":         {"kind: A, name: a, patchType: json, patch: {a: {}}", "spec.apiVersion"},
		"patches mistake 18: no patchType":          {"apiVersion: v1, kind: A, name: a, patch: {a: {}}", "spec.patchType"},
		"patches mistake 18: another type":          {"apiVersion: v1, kind: A, name: a, patchType: merge, patch: {a: {}}", "spec.patchType"},
		"an empty tree, which would change nothing": {"apiVersion: v1, kind: A, name: a, patchType: json, patch: {}", "spec.patch"},
		"patches 1: an empty name":                  {"apiVersion: v1, kind: A, name: '', patchType: json, patch: {a: {}}", "spec.name"},
		"patches 1: a tree that is a list":          {"apiVersion: v1, kind: A, name: a, patchType: json, patch: []", "spec.patch"},
		"an expiry that is no time":                 {"apiVersion: v1, kind: A, name: a, patchType: json, patch: {a: {}}, expiresAt: soon", "spec.expiresAt"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			_, err := w.cluster.Port().Create(t.Context(), object("{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: x, namespace: shop}, spec: {"+row.spec+"}}"), deploy.CreateOptions{})
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid, "the definition refuses it")
			assert.Contains(t, err.Error(), row.field)
		})
	}
}

// A definition of somebody else may let through what ours refuses.
func TestUncheckedFields(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ spec, err string }{
		"patches 2, mistake 18: fields are missing": {"{patchType: json, patch: {a: {b: []}}}",
			"setup: spec.apiVersion, spec.kind, spec.name: missing: name the resource that is to be patched"},
		"neither patch nor patches": {"{apiVersion: example.dev/v1, kind: Widget, name: w, patchType: json}",
			"setup: spec has neither patch nor patches: add one"},
		"an empty tree": {"{apiVersion: example.dev/v1, kind: Widget, name: w, patchType: json, patch: {}}",
			"setup: spec has neither patch nor patches: add one"},
		"both": {"{apiVersion: example.dev/v1, kind: Widget, name: w, patchType: json, patch: {}, patches: [{component: a, object: b, patch: []}]}",
			"setup: spec has both patch and patches: keep one"},
		"a tree that is none": {"{apiVersion: example.dev/v1, kind: Widget, name: w, patchType: json, patch: [1]}",
			"setup: spec.patch: not an object: write a map of components, each a map of objects"},
		"no object named": {"{apiVersion: example.dev/v1, kind: Widget, name: w, patchType: json, patches: [{component: a, patch: []}]}",
			"setup: spec.patches[0]: names no component or no object"},
		"a spec that is none":           {"null", "setup: spec is missing: name the target and the patch"},
		"a field of another type":       {"{apiVersion: example.dev/v1, kind: Widget, name: 7, patch: {}}", "setup: spec isn't a valid TemporaryPatch spec: "},
		"an apiVersion that can't be":   {"{apiVersion: a/b/c, kind: Widget, name: w, patch: {a: {b: []}}}", "component temporarypatch: spec.apiVersion: unexpected GroupVersion string: a/b/c"},
		"an expiry that is no time too": {"{apiVersion: example.dev/v1, kind: Widget, name: w, patch: {}, expiresAt: soon}", "setup: spec isn't a valid TemporaryPatch spec: "},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(object(
				"{apiVersion: operkit.dev/v1, kind: TemporaryPatch, metadata: {name: a, namespace: shop}, spec: "+row.spec+"}")))
			require.NoError(t, err)
			manager := must(deploy.NewManager(memory))
			patches, err := temporarypatch.New(manager, []string{"Widget"})
			require.NoError(t, err)
			r, err := reconcile.New(patches, manager)
			require.NoError(t, err)
			_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: patches.Kind(), Namespace: "shop", Name: "a"}})
			require.ErrorContains(t, err, row.err)
		})
	}
}
