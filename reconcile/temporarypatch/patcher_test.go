package temporarypatch_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

// mode is a patch that sets the mode to a value.
func mode(value string) string {
	return "patchType: strategic, patch: {web: {configmap/settings: {data: {mode: " + value + "}}}}"
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		annotation string // of a, b and c; the last one applied names the mode
		priorities [3]int
		want       string
	}{
		"patches 16, 18, smp 1: by time, whatever the order in the annotation": {
			`{"c": {"timestamp": "2020-01-01T00:00:00Z"}, "b": {"timestamp": "2020-01-03T00:00:00Z"}, "a": {"timestamp": "2020-01-02T00:00:00Z"}}`, [3]int{}, "b"},
		"patches mistake 9: with and without zones": {
			`{"a": {"timestamp": "2020-01-01T05:00:00+03:00"}, "b": {"timestamp": "2020-01-01T03:00:00.5"}, "c": {"timestamp": "2020-01-01T02:30:00Z"}}`, [3]int{}, "b"},
		"patches mistake 9: equal times by name": {
			`{"a": {"timestamp": "2020-01-01T00:00:00Z"}, "b": {"timestamp": "2020-01-01T00:00:00Z"}, "c": {"timestamp": "2020-01-01T00:00:00Z"}}`, [3]int{}, "c"},
		"patches mistake 9: the creation counts for a time of no sense": {
			`{"a": {"timestamp": "2031-01-01T00:00:00Z"}, "b": {"timestamp": 7}, "c": {"timestamp": "soon"}}`, [3]int{}, "a"},
		"patches mistake 9: and for one that is missing": {
			`{"a": {}, "b": {"timestamp": "2020-01-01T00:00:00Z"}, "c": {"timestamp": "2020-01-01T00:00:00Z"}}`, [3]int{}, "a"},
		"patches mistake 10: priority comes first": {
			`{"a": {"timestamp": "2020-01-01T00:00:00Z"}, "b": {"timestamp": "2020-01-02T00:00:00Z"}, "c": {"timestamp": "2020-01-03T00:00:00Z"}}`, [3]int{2, 1, 0}, "a"},
		"patches mistake 10: also a negative one": {
			`{"a": {"timestamp": "2020-01-01T00:00:00Z"}, "b": {"timestamp": "2020-01-02T00:00:00Z"}, "c": {"timestamp": "2020-01-03T00:00:00Z"}}`, [3]int{0, 0, -1}, "b"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, name := range []string{"a", "b", "c"} {
				w.create(name, mode(name)+fmt.Sprintf(", priority: %d", row.priorities[i]))
			}
			w.annotate(strings.NewReplacer(`{}`, `{"api_version": "operkit.dev/v1"}`, `{"t`, `{"api_version": "operkit.dev/v1", "t`).Replace(row.annotation))
			w.rendered()
			assert.Equal(t, row.want, w.data("settings", "mode"))
		})
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	t.Run("patches 15, smp 1: no annotation, no patch, no call", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"), "what isn't recorded isn't applied")
	})
	for reason, row := range map[string]struct{ annotation, err string }{
		"patches 15, smp 1: no JSON":                     {`{`, "annotation " + annotation + " of Widget w: not a JSON object: unexpected end of JSON input: correct or remove it"},
		"patches 15: no object":                          {`[]`, "annotation " + annotation + " of Widget w: not a JSON object: "},
		"patches 15: null":                               {`null`, "annotation " + annotation + " of Widget w: not a JSON object: it is null: correct or remove it"},
		"patches 15: two of them":                        {`{} {}`, "annotation " + annotation + " of Widget w: not a JSON object: "},
		"patches 15, mistake 9: an entry that is no map": {`{"a": 7}`, "annotation " + annotation + ": entry a: json: cannot unmarshal number"},
		"patches 15: no api_version":                     {`{"a": {"timestamp": "2020-01-01T00:00:00Z"}}`, "annotation " + annotation + ": entry a: has no api_version"},
		"patches 15: an api_version of no sense":         {`{"a": {"api_version": "a/b/c"}}`, "annotation " + annotation + ": entry a: unexpected GroupVersion string: a/b/c"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create("a", loud)
			w.annotate(row.annotation)
			_, _, err := w.run(w.target, "w")
			require.ErrorContains(t, err, row.err)
			assert.Equal(t, "Errored/Errored", w.verdict(widgetRef))
			assert.Nil(t, w.get(webRef), "nothing is deployed without its patches")
		})
	}
	t.Run("patches 15: the kind of an entry is TemporaryPatch unless it says another", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.annotate(`{"a": {"api_version": "operkit.dev/v1", "timestamp": "2020-01-01T00:00:00Z"}}`)
		w.rendered()
		assert.Equal(t, "loud", w.data("settings", "mode"))
	})
	t.Run("patches 17, smp 2: the lookup fails", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.patched("a")
		w.view.fail(w.patches.Kind(), &deploy.ForbiddenError{Verb: "get", Err: errors.New("no")})
		_, _, err := w.run(w.target, "w")
		require.ErrorContains(t, err, "patch a: ")
		assert.Equal(t, "Initializing/ClusterError", w.verdict(widgetRef))
	})
}

func TestGone(t *testing.T) {
	t.Parallel()
	gone := func(t *testing.T) *world {
		t.Helper()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.create("b", `patchType: strategic, patch: {db: {settings: {data: {size: big}}}}`)
		w.patched("a")
		w.patched("b")
		w.merge(ref, `{"metadata": {"finalizers": null}}`)
		w.delete(ref)
		return w
	}
	t.Run("patches mistake 7: it is ignored and its entry removed", func(t *testing.T) {
		t.Parallel()
		w := gone(t)
		assert.Equal(t, []string{"get TemporaryPatch shop/a", patchWidget}, w.rendered()[:2], "once the cluster itself has said that it is gone")
		assert.Equal(t, "quiet big", w.data("settings", "mode")+" "+w.data("db", "size"))
		assert.NotContains(t, w.entries(), "a")
		assert.Contains(t, w.entries(), "b")
		assert.Regexp(t, `level=WARN msg="temporary patch ignored: it is gone" object="Widget shop/w" reconcile=\w+ patch=a`, w.logs.String())
		again := w.rendered()
		assert.NotContains(t, again, patchWidget)
		assert.NotContains(t, again, "get TemporaryPatch shop/a", "nobody asks for it any more")
	})
	t.Run("patches mistake 7: an entry that can't be removed blocks nothing", func(t *testing.T) {
		t.Parallel()
		w := gone(t)
		require.NoError(t, w.cluster.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: widgets, Subresource: "", Code: 403, Count: 1}))
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"))
		assert.Contains(t, w.logs.String(), "the entry of a deleted temporary patch can't be removed")
	})
	t.Run("patches mistake 7: one that is there after all is left alone", func(t *testing.T) {
		t.Parallel()
		w := gone(t)
		w.port.before = func(ref deploy.Ref) {
			if ref == widgetRef {
				w.port.before = nil
				w.annotate(`{"a": {"api_version": "other.dev/v1"}}`)
			}
		}
		w.rendered()
		assert.Contains(t, w.entries(), "a")
	})
	t.Run("patches mistake 7: one that was made anew meanwhile keeps its entry", func(t *testing.T) {
		t.Parallel()
		w := gone(t)
		w.port.before = func(ref deploy.Ref) {
			if ref == widgetRef {
				w.port.before = nil
				w.create("a", loud)
				w.patched("a")
			}
		}
		w.rendered()
		assert.Contains(t, w.entries(), "a")
		w.rendered()
		assert.Equal(t, "loud", w.data("settings", "mode"))
	})
	t.Run("patches mistake 7: one that merely isn't seen yet is applied", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.patched("a")
		w.view.blind = w.patches.Kind()
		w.rendered()
		assert.Equal(t, "loud", w.data("settings", "mode"))
		assert.Contains(t, w.entries(), "a")
	})
	t.Run("patches mistake 7: while it can't be told the target isn't rendered", func(t *testing.T) {
		t.Parallel()
		w := gone(t)
		require.NoError(t, w.cluster.Fail(dryrun.Fault{Verb: dryrun.VerbGet, Kind: w.patches.Kind(), Code: 503}))
		_, _, err := w.run(w.target, "w")
		var unavailable *deploy.UnavailableError
		require.ErrorAs(t, err, &unavailable)
		assert.Nil(t, w.get(webRef))
		assert.Contains(t, w.entries(), "a")
	})
	t.Run("patches mistake 7: with its definition gone it is ignored", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.patched("a")
		w.view.fail(w.patches.Kind(), &deploy.KindUnknownError{Kind: w.patches.Kind()})
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"))
		assert.Contains(t, w.entries(), "a")
	})
	t.Run("one that is being deleted is applied no more", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		w.delete(ref)
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"))
	})
	t.Run("patches mistake 3: one that names another target is ignored", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.createFor("a", "apiVersion: example.dev/v1, kind: Widget, name: other, "+loud)
		w.annotate(`{"a": {"api_version": "operkit.dev/v1"}}`)
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"))
		assert.Regexp(t, `msg="temporary patch ignored: it names another target" object="Widget shop/w" reconcile=\w+ patch=a target="Widget other"`, w.logs.String())
	})
	t.Run("another version of the target's kind is the same target", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.createFor("a", "apiVersion: example.dev/v1beta1, kind: Widget, name: w, "+loud)
		w.annotate(`{"a": {"api_version": "operkit.dev/v1"}}`)
		w.rendered()
		assert.Equal(t, "loud", w.data("settings", "mode"))
	})
	t.Run("patches 17, smp 2, mistake 8: one without a spec is ignored", func(t *testing.T) {
		t.Parallel()
		w := newWorldOf(t, []string{"Widget"}, nil, temporarypatch.AlsoReads(foreignPatches))
		w.put(object(`{apiVersion: other.dev/v1, kind: TemporaryPatch, metadata: {name: a, namespace: shop}}`))
		w.annotate(`{"a": {"api_version": "other.dev/v1"}}`)
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"))
		assert.Regexp(t, `msg="temporary patch ignored" object="Widget shop/w" reconcile=\w+ patch=a error="spec is missing`, w.logs.String())
	})
}

// foreignPatches are patches of somebody else, whose definition checks nothing.
var foreignPatches = schema.GroupKind{Group: "other.dev", Kind: "TemporaryPatch"}

// Who may annotate a target doesn't choose of which kind its patches are.
func TestKindsOfEntries(t *testing.T) {
	t.Parallel()
	const fields = `apiVersion: example.dev/v1, kind: Widget, name: w, patchType: strategic, patch: {web: {configmap/settings: {data: {mode: loud}}}}`
	for reason, row := range map[string]struct {
		kind, apiVersion string
		also             []schema.GroupKind
		applied          bool
	}{
		"patches 9, 15: the own kind":                            {"TemporaryPatch", "operkit.dev/v1", nil, true},
		"patches 9, 15: another kind is ignored":                 {"Gadget", "example.dev/v1", nil, false},
		"patches 9, 15: the same kind of another group too":      {"TemporaryPatch", "oper8.org/v1", nil, false},
		"patches 9, 15: what another framework has left is read": {"TemporaryPatch", "oper8.org/v1", []schema.GroupKind{foreignPatches, {Group: "oper8.org", Kind: "TemporaryPatch"}}, true},
		"patches 9, 15: in any version":                          {"TemporaryPatch", "oper8.org/v7", []schema.GroupKind{{Group: "oper8.org", Kind: "TemporaryPatch"}}, true},
		"patches 9, 15: of that group nothing else":              {"Gadget", "oper8.org/v1", []schema.GroupKind{{Group: "oper8.org", Kind: "TemporaryPatch"}}, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, []string{"Widget"}, nil, temporarypatch.AlsoReads(row.also...))
			w.put(object(`{apiVersion: ` + row.apiVersion + `, kind: ` + row.kind + `, metadata: {name: a, namespace: shop}, spec: {` + fields + `}}`))
			w.annotate(`{"a": {"api_version": "` + row.apiVersion + `", "kind": "` + row.kind + `", "timestamp": "2020-01-01T00:00:00.5"}}`)
			w.rendered()
			warning := `level=WARN msg="temporary patch ignored: the operator doesn't read patches of this kind" object="Widget shop/w" reconcile=\w+ patch=a kind="` + row.apiVersion + `, Kind=` + row.kind + `"`
			if row.applied {
				assert.Equal(t, "loud", w.data("settings", "mode"))
				assert.NotRegexp(t, warning, w.logs.String())
			} else {
				assert.Equal(t, "quiet", w.data("settings", "mode"))
				assert.Regexp(t, warning, w.logs.String())
			}
			assert.Contains(t, w.entries(), "a", "whose it is may still need it")
		})
	}
	t.Run("patches 9, 15: one that may not be read holds nothing up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		secrets := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
		w.view.fail(secrets, &deploy.ForbiddenError{Verb: "get", Err: errors.New("no")})
		w.annotate(`{"a": {"api_version": "v1", "kind": "Secret"}}`)
		w.rendered()
		assert.Equal(t, "quiet", w.data("settings", "mode"))
	})
}

func TestDryRunOfATarget(t *testing.T) {
	t.Parallel()
	dry := func(w *world) *reconcile.Reconciler {
		w.t.Helper()
		target, err := reconcile.New(w.control, w.manager, reconcile.DryRun(), reconcile.WithPatches(w.patches), reconcile.Clock(w.clock.Now), reconcile.Logger(slog.New(slog.NewTextHandler(w.logs, nil))))
		require.NoError(w.t, err)
		return target
	}
	t.Run("it removes no entry", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.annotate(`{"a": {"api_version": "operkit.dev/v1"}}`)
		writes, _, err := w.run(dry(w), "w")
		require.NoError(t, err)
		assert.NotContains(t, writes, patchWidget)
		assert.Contains(t, w.entries(), "a")
		assert.Contains(t, w.logs.String(), "temporary patch ignored: it is gone")
	})
	t.Run("it believes its own view", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.create("a", loud)
		w.patched("a")
		w.view.blind = w.patches.Kind()
		found, err := w.patches.Patches(t.Context(), patching.Target{Resource: w.get(widgetRef), View: w.view, DryRun: true})
		require.NoError(t, err)
		assert.Empty(t, found)
	})
	t.Run("no patch says that it was applied by it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ref := w.create("a", loud)
		w.patched("a")
		_, _, err := w.run(dry(w), "w")
		require.NoError(t, err)
		w.patched("a")
		assert.Equal(t, temporarypatch.ReasonPending, w.condition(ref, "Applied").Reason)
		w.rendered()
		w.patched("a")
		assert.Equal(t, temporarypatch.ReasonApplied, w.condition(ref, "Applied").Reason, "but by what came of it")
	})
}

func TestSettledCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("a", loud)
	w.patched("a")
	w.mergeReady()
	w.patched("a")
	assert.Empty(t, w.rendered())
	writes, result, err := w.run(w.own, "a")
	require.NoError(t, err)
	assert.Empty(t, writes)
	assert.Equal(t, 10*time.Minute, result.RequeueAfter)
	assert.NotContains(t, w.logs.String(), "the CustomResourceDefinition drops fields of the status", "the definition knows what is written")
}
