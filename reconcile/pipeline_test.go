package reconcile

import (
	"context"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRequestOfNoResource(t *testing.T) {
	t.Parallel()
	for reason, key := range map[string]deploy.Ref{
		"reconcile 1: no name":      {Kind: widgets, Namespace: "shop"},
		"reconcile 1: another kind": {Kind: schema.GroupVersionKind{Version: "v1", Kind: "Widget"}, Namespace: "shop", Name: "w"},
		"reconcile 1: no kind":      {Namespace: "shop", Name: "w"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, err := w.reconciler(adding(func(*Session) { assert.Fail(t, "there is nothing to set up") })).Reconcile(t.Context(), request.Request{Key: key})
			assert.EqualError(t, err, "request "+key.String()+": names no resource of kind Widget")
			assert.True(t, request.IsPermanent(err))
			assert.Empty(t, w.made())
		})
	}
}

// Each step of the pipeline is failed in turn: what comes later isn't begun.
func TestPipelineOrder(t *testing.T) {
	t.Parallel()
	broken := func(w *world, spec, annotations, overrides string) {
		w.merge(widgetRef, `{"spec":`+spec+`,"metadata":{"annotations":`+annotations+`},"configOverrides":`+overrides+`}`)
	}
	for _, row := range []struct {
		reason                       string
		spec, annotations, overrides string
		verdict, message             string
		setUp                        bool
		calls                        []string
	}{
		{reason: "reconcile 36, vcs 7: paused, not even its version is looked at", spec: `{"version":"9"}`, annotations: `{"operkit.dev/pause-execution":"true"}`,
			overrides: "3", verdict: "/", calls: []string{writeStatus}},
		{reason: "reconcile 36, vcs 7: the version before the configuration", spec: `{"version":"9"}`, annotations: "{}", overrides: "3",
			verdict: "ConfigError/Errored", message: `Widget shop/w: version "9" isn't supported: choose one of 1, 2`, calls: []string{patchWidget, writeStatus}},
		{reason: "reconcile 36: the configuration before Setup", spec: `{"version":"1"}`, annotations: "{}", overrides: "3",
			verdict: "ConfigError/Errored", message: "Widget shop/w: configOverrides is not a map: correct or remove it", calls: []string{patchWidget, writeStatus}},
		{reason: "reconcile 36, 44: all is well: the finalizer, the rollout, one status", spec: `{"version":"1"}`, annotations: "{}", overrides: "{}",
			verdict: "Stable/Stable", message: "Rollout Complete", setUp: true, calls: []string{patchWidget, "apply ConfigMap shop/c", writeStatus}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			broken(w, row.spec, row.annotations, row.overrides)
			setUp := false
			f := &finalizing{}
			f.setup = func(_ context.Context, s *Session) error {
				setUp = true
				s.Add("c", configMap("c"))
				return nil
			}
			calls, _, _ := w.once(w.reconciler(f, SupportedVersions("1", "2"), StrictVersions()))
			assert.Equal(t, row.calls, calls)
			assert.Equal(t, row.setUp, setUp)
			assert.Equal(t, row.verdict, w.verdict())
			if row.message != "" {
				assert.Equal(t, row.message, w.message())
			}
		})
	}
}

func TestStatusSnapshot(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 4: it is read once, and stays what it was", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		reads := 0
		r := w.reconciler(adding(func(s *Session) {
			assert.Equal(t, 1, reads)
			before := s.CurrentVersion()
			w.mergeStatus(widgetRef, `{"status":{"versions":{"reconciled":"7"}}}`)
			assert.Equal(t, before, s.CurrentVersion())
			assert.Equal(t, 1, reads)
		}))
		w.unreadable = func(ref deploy.Ref) error {
			if ref == widgetRef {
				reads++
			}
			return nil
		}
		w.calm(r)
	})
	t.Run("reconcile 4: one that can't be read is an error, and nothing happens", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		unreadable := forbidden("get", "widgets")
		w.unreadable = func(deploy.Ref) error { return unreadable }
		calls, _, err := w.once(w.reconciler(adding(func(*Session) { assert.Fail(t, "it isn't set up") })))
		require.ErrorIs(t, err, unreadable)
		assert.Empty(t, calls)
	})
}

func TestNoStatus(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 44, mistake 11: nothing is written, what comes next is known all the same", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		r := w.reconciler(adding(func(s *Session) { s.Add("c", deployment("d")) }), Status(NoStatus), SupportedVersions("1"))
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{"apply Deployment shop/d"}, calls)
		assert.Equal(t, r.options.recheck, result.RequeueAfter, "it isn't ready")
		w.makeReady("d")
		calls, result, err = w.once(r)
		require.NoError(t, err)
		assert.Empty(t, calls)
		assert.Equal(t, r.options.period, result.RequeueAfter)
		assert.NotContains(t, w.widget().Object, "status")
	})
	t.Run("what needs one is refused", func(t *testing.T) {
		t.Parallel()
		for _, other := range []Option{Status(ServiceStatus), OwnAnywhere()} {
			_, err := New(&controller{}, must(deploy.NewManager(newWorld(t))), Status(NoStatus), other)
			assert.ErrorContains(t, err, "no status: ")
		}
	})
}

func TestPassthrough(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 47: how it is configured and logged, and whether it rests", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.merge(widgetRef, `{"metadata":{"annotations":{
			"operkit.dev/log-default-level":"debug","operkit.dev/log-filters":"","operkit.dev/pause-execution":"false",
			"operkit.dev/temporary-patches":"{}","operkit.dev/lease-name":"x","example.com/other":"y","oper8.org/log-json":"true"}}}`)
		w.inSetup(func(_ context.Context, s *Session) {
			passed := s.Passthrough()
			assert.Equal(t, map[string]string{
				"operkit.dev/log-default-level": "debug", "operkit.dev/log-filters": "", "operkit.dev/pause-execution": "false",
			}, passed)
			clear(passed)
			assert.Len(t, s.Passthrough(), 3, "the map is the caller's own")
		})
	})
	t.Run("reconcile 47: none are none", func(t *testing.T) {
		t.Parallel()
		newWorld(t).inSetup(func(_ context.Context, s *Session) { assert.Equal(t, map[string]string{}, s.Passthrough()) })
	})
}

// What each way of writing an object does with one that isn't as it should be.
func TestWaysOfWriting(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		strategy deploy.Strategy
		calls    []string
		data     map[string]any
	}{
		"reconcile 12: by default what is ours is applied, what others added stays": {"", []string{"apply ConfigMap shop/c"}, map[string]any{"key": "new", "theirs": "x"}},
		"reconcile 12: replaced as a whole":                                         {deploy.Replace, []string{"update ConfigMap shop/c"}, map[string]any{"key": "new"}},
		"reconcile 12: made once":                                                   {deploy.CreateOnly, []string{}, map[string]any{"key": "value", "theirs": "x"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			value := "value"
			r := w.reconciler(adding(func(s *Session) {
				content := configMap("c")
				require.NoError(t, unstructured.SetNestedField(content.Object, value, "data", "key"))
				s.Add("c").Add("c", content, By(row.strategy))
			}))
			w.calm(r)
			w.merge(configMapRef("c"), `{"data":{"theirs":"x"}}`)
			value = "new"
			calls := w.calm(r)
			kept := []string{}
			for _, call := range calls {
				if call != writeStatus {
					kept = append(kept, call)
				}
			}
			assert.Equal(t, row.calls, kept)
			assert.Equal(t, row.data, w.get(configMapRef("c")).Object["data"])
		})
	}
}

// forging is a Patcher whose patch sets what isn't for patches to set.
type forging struct{}

func (forging) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	return []patching.Patch{forging{}}, nil
}

func (forging) Name() string { return "forging" }

func (forging) Apply(_ context.Context, _, _ string, content map[string]any) (map[string]any, bool, error) {
	patched := (&unstructured.Unstructured{Object: content}).DeepCopy()
	patched.SetAnnotations(map[string]string{"operkit.dev/internal-name": "forged.name", "kept": "yes"})
	patched.SetOwnerReferences(nil)
	patched.SetResourceVersion("1")
	return patched.Object, true, nil
}

func TestPatchesDoNotForge(t *testing.T) {
	t.Parallel()
	t.Run("smp 7, reconcile 13, 14, 40: internal name and owner are set after the patches", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("door", configMap("c")) }), NameObjects(), WithPatches(forging{})))
		live := w.get(configMapRef("c"))
		assert.Equal(t, "door.configmap/c", live.GetAnnotations()["operkit.dev/internal-name"])
		assert.Equal(t, "yes", live.GetAnnotations()["kept"])
		require.Len(t, live.GetOwnerReferences(), 1)
		assert.Equal(t, widgetUID, live.GetOwnerReferences()[0].UID)
		w.merge(configMapRef("c"), `{"metadata":{"annotations":{"operkit.dev/temporary-patches":"{}"}}}`)
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("door", configMap("c")) }), NameObjects(), WithPatches(forging{})))
		assert.Equal(t, "{}", w.get(configMapRef("c")).GetAnnotations()["operkit.dev/temporary-patches"], "what others annotated stays")
	})
}

func TestReconciledIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reconciler(adding(func(*Session) {}), Logger(slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	w.calm(r)
	w.calm(r)
	assert.Equal(t, 2, w.logs.Count("level=DEBUG msg=reconciled"))
	assert.Equal(t, 2, w.logs.Count("requeue_after=10m0s"))
}
