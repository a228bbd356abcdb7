package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const ours = "widget.example.dev/finalizer"

// finalized returns a world whose widget carries finalizers.
func finalized(t *testing.T, finalizers ...string) *world {
	t.Helper()
	resource := widget()
	resource.SetFinalizers(finalizers)
	return newWorldWith(t, resource)
}

func TestFinalizerIsAdded(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 34: before the rollout, once, beside others'", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, "example.dev/others")
		r := w.reconciler(&finalizing{controller: *adding(func(s *Session) { s.Add("c", configMap("c")) })})
		assert.Equal(t, []string{patchWidget, "apply ConfigMap shop/c", writeStatus}, w.calm(r))
		assert.Equal(t, []string{"example.dev/others", ours}, w.widget().GetFinalizers())
		assert.Empty(t, w.calm(r))
	})
	t.Run("reconcile 34: only for a controller with a Finalize", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		assert.Equal(t, []string{writeStatus}, w.calm(w.reconciler(adding(func(*Session) {}))))
		assert.Empty(t, w.widget().GetFinalizers())
	})
	t.Run("mistake 13: never to a resource that is being deleted", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, "example.dev/others")
		w.delete(widgetRef)
		r := w.reconciler(&finalizing{
			controller: *adding(func(*Session) { assert.Fail(t, "it is set up") }),
			finalize:   func(context.Context, *Session) error { return errors.New("it is finalized, though it never was ours") },
		})
		assert.Empty(t, w.calm(r))
		assert.Equal(t, []string{"example.dev/others"}, w.widget().GetFinalizers())
	})
	t.Run("reconcile 34: without it nothing is deployed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(forbidden("patch", "widgets"), patchWidget)
		calls, _, err := w.once(w.reconciler(&finalizing{controller: *adding(func(*Session) { assert.Fail(t, "it is set up") })}))
		assert.EqualError(t, err, forbidden("patch", "widgets").Error())
		assert.Equal(t, []string{patchWidget, writeStatus}, calls)
		assert.Equal(t, "Initializing/ClusterError", w.verdict(), "reconcile 34: a cluster error")
	})
	t.Run("mistake 14: a resource that changed meanwhile is looked at again, quietly", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.StaleError{Ref: widgetRef, Err: errors.New("changed")}, patchWidget)
		calls, result, err := w.once(w.reconciler(&finalizing{}))
		assertQuiet(t, err)
		assert.Equal(t, []string{patchWidget}, calls, "and nothing is said about it")
		assert.Equal(t, request.Result{}, result)
		assert.Empty(t, w.logs.String())
	})
}

func TestFinalize(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 35: done, our finalizer goes, others' stay", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, "example.dev/first", ours, "example.dev/last")
		w.delete(widgetRef)
		finalizations := 0
		r := w.reconciler(&finalizing{
			controller: *adding(func(*Session) { assert.Fail(t, "it is set up") }),
			finalize:   func(context.Context, *Session) error { finalizations++; return nil },
		})
		assert.Equal(t, []string{patchWidget}, w.calm(r))
		assert.Equal(t, []string{"example.dev/first", "example.dev/last"}, w.widget().GetFinalizers())
		assert.Empty(t, w.calm(r))
		assert.Equal(t, 1, finalizations, "watch mistake 21: without our finalizer there is nothing to do")
	})
	t.Run("reconcile 35: with the last finalizer the resource goes", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.delete(widgetRef)
		r := w.reconciler(&finalizing{})
		assert.Equal(t, []string{patchWidget}, w.calm(r))
		assert.Nil(t, w.get(widgetRef))
		assert.Empty(t, w.calm(r), "watch mistake 21: gone is gone")
	})
	t.Run("without a Finalize a deleted resource is nobody's business", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, "example.dev/others")
		w.delete(widgetRef)
		assert.Empty(t, w.calm(w.reconciler(adding(func(*Session) { assert.Fail(t, "it is set up") }))))
	})
	t.Run("reconcile 35: it may wait, as often as it likes", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.delete(widgetRef)
		wait := true
		r := w.reconciler(&finalizing{finalize: func(context.Context, *Session) error {
			if wait {
				return request.Precondition("waiting for the last guest")
			}
			return nil
		}})
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{writeStatus}, calls)
		assert.Equal(t, request.Result{RequeueAfter: time.Minute}, result)
		assert.Equal(t, "finalize: waiting for the last guest", w.message())
		assert.Empty(t, w.calm(r))
		wait = false
		assert.Equal(t, []string{patchWidget}, w.calm(r))
		assert.Nil(t, w.get(widgetRef))
	})
	t.Run("reconcile 35: what can't be written is a cluster error", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.delete(widgetRef)
		w.refuse = refusing(forbidden("patch", "widgets"), patchWidget)
		calls, _, err := w.once(w.reconciler(&finalizing{}))
		assert.EqualError(t, err, "remove the finalizer: "+forbidden("patch", "widgets").Error())
		assert.Equal(t, []string{patchWidget, writeStatus}, calls)
		assert.Equal(t, "Initializing/ClusterError", w.verdict())
	})
	t.Run("a conflict is looked at again, quietly", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.delete(widgetRef)
		w.refuse = refusing(&deploy.StaleError{Ref: widgetRef, Err: errors.New("changed")}, patchWidget)
		calls, result, err := w.once(w.reconciler(&finalizing{}))
		assertQuiet(t, err)
		assert.Equal(t, []string{patchWidget}, calls)
		assert.Equal(t, request.Result{}, result)
	})
	t.Run("a part of the cluster that doesn't answer is said", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.delete(widgetRef)
		unavailable := &deploy.UnavailableError{Err: errors.New("refused")}
		calls, _, err := w.once(w.reconciler(&finalizing{finalize: func(context.Context, *Session) error { return unavailable }}))
		assert.EqualError(t, err, "finalize: "+unavailable.Error())
		assert.Equal(t, []string{writeStatus}, calls)
	})
	t.Run("mistake 14: a successor of the same name keeps its finalizer", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, ours)
		w.delete(widgetRef)
		r := w.reconciler(&finalizing{finalize: func(ctx context.Context, _ *Session) error {
			// Somebody forces it away, and makes another one.
			w.merge(widgetRef, `{"metadata":{"finalizers":null}}`)
			successor := widget()
			successor.SetUID("")
			successor.SetFinalizers([]string{ours})
			_, err := w.memory.Port().Apply(ctx, successor, deploy.ApplyOptions{FieldManager: "somebody"})
			return err
		}})
		assert.Empty(t, w.calm(r))
		assert.Equal(t, []string{ours}, w.widget().GetFinalizers())
	})
}

func TestRemove(t *testing.T) {
	t.Parallel()
	slow := owned(configMap("slow"), widgetUID)
	slow.SetFinalizers([]string{"example.dev/slow"})
	resource := widget()
	resource.SetFinalizers([]string{ours})
	w := newWorldWith(t, resource, slow, owned(configMap("mine"), widgetUID), owned(configMap("theirs"), "somebody"))
	w.delete(widgetRef)
	watcher := &ownRecorder{}
	var answers []string
	r := w.reconciler(&finalizing{finalize: func(ctx context.Context, s *Session) error {
		err := s.Remove(ctx, configMap("slow"), configMap("mine"), configMap("theirs"), configMap("never"))
		if err != nil {
			answers = append(answers, err.Error())
		}
		return err
	}}, WithWatcher(watcher))
	assert.Equal(t, []string{"delete ConfigMap shop/mine", "delete ConfigMap shop/slow", writeStatus}, w.calm(r), "last one first")
	assert.Equal(t, "Initializing/PreconditionWait", w.verdict())
	assert.Empty(t, w.calm(r), "it is asked for once")
	assert.Equal(t, []string{"waiting until ConfigMap shop/slow is gone", "waiting until ConfigMap shop/slow is gone"}, answers)
	w.merge(configMapRef("slow"), `{"metadata":{"finalizers":null}}`)
	assert.Equal(t, []string{patchWidget}, w.calm(r))
	assert.Nil(t, w.get(widgetRef))
	assert.NotNil(t, w.get(configMapRef("theirs")), "what is somebody else's stays, and is no reason to wait")
	assert.Contains(t, watcher.made(), "Widget owns ConfigMap", "so that the last one's end is seen")
}

func TestRemoveRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, owned(configMap("a"), widgetUID))
	w.refuse = refusing(errors.New("weird"), "delete ConfigMap shop/a")
	w.serves(deployments)
	w.inSetup(func(ctx context.Context, s *Session) {
		for _, row := range []struct {
			reason string
			object any
			want   string
		}{
			{"no object", "x", "a value of type string isn't an object: pass an API struct, an apply configuration, or a plain object"},
			{"an object without name", configMap(""), "metadata.name is missing"},
			{"one that can't be deleted", configMap("a"), "weird"},
		} {
			assert.ErrorContains(t, s.Remove(ctx, row.object), row.want, row.reason)
		}
		assert.NoError(t, s.Remove(ctx, deployment("d")), "there is none of a kind that isn't served")
		assert.NoError(t, s.Remove(ctx), "nothing is gone")
	})
}

// oper8 named the default finalizer in another way.
func TestFinalizerOfOper8(t *testing.T) {
	t.Parallel()
	const former = "finalizers.widget.example.dev"
	for reason, row := range map[string]struct {
		controller Controller
		options    []Option
		has, keeps []string
	}{
		"the resource is finalized by it":         {&finalizing{}, nil, []string{former, "example.dev/others"}, []string{"example.dev/others"}},
		"both are removed":                        {&finalizing{}, nil, []string{former, ours}, nil},
		"an operator without Finalize removes it": {&controller{}, nil, []string{former, "example.dev/others"}, []string{"example.dev/others"}},
		"a name of one's own is the only one":     {&finalizing{}, []Option{FinalizerName("example.dev/mine")}, []string{former, "example.dev/mine"}, []string{former}},
	} {
		t.Run("finalizers 1: "+reason, func(t *testing.T) {
			t.Parallel()
			w := finalized(t, row.has...)
			w.delete(widgetRef)
			w.calm(w.reconciler(row.controller, row.options...))
			if row.keeps == nil {
				assert.Nil(t, w.get(widgetRef))
				return
			}
			assert.Equal(t, row.keeps, w.widget().GetFinalizers())
		})
	}
	t.Run("finalizers 1: a resource that has it gets no other one, and no write", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, former)
		assert.Equal(t, []string{writeStatus}, w.calm(w.reconciler(&finalizing{})))
		assert.Equal(t, []string{former}, w.widget().GetFinalizers())
	})
	t.Run("finalizers 1: with a name of one's own it isn't ours", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, former)
		assert.Equal(t, []string{patchWidget, writeStatus}, w.calm(w.reconciler(&finalizing{}, FinalizerName("example.dev/mine"))))
		assert.Equal(t, []string{former, "example.dev/mine"}, w.widget().GetFinalizers())
	})
	t.Run("finalizers 1: a failure names the one to remove", func(t *testing.T) {
		t.Parallel()
		w := finalized(t, former)
		w.delete(widgetRef)
		_, _, err := w.once(w.reconciler(&finalizing{finalize: func(_ context.Context, s *Session) error {
			s.Add("c", map[string]any{"apiVersion": "v1", "kind": "ConfigMap"})
			return nil
		}}))
		require.ErrorContains(t, err, "remove the finalizer "+former+" to delete the resource anyway")
		assert.Equal(t, err.Error(), w.message())
	})
}

func TestFinalizerNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range []struct {
		reason  string
		c       Controller
		options []Option
		want    string
		err     string
	}{
		{"reconcile 20: by default of kind and group", &finalizing{}, nil, ours, ""},
		{"reconcile 20: the core group has no name", &kinded{kind: schema.GroupVersionKind{Version: "v1", Kind: "Thing"}}, nil, "thing/finalizer", ""},
		{"reconcile 20: or as it is asked for", &finalizing{}, []Option{FinalizerName("example.dev/mine")}, "example.dev/mine", ""},
		{"mistake 15: a name without Finalize is refused", &controller{}, []Option{FinalizerName("example.dev/mine")}, "",
			`controller *reconcile.controller: has the finalizer "example.dev/mine" but no Finalize`},
		{"without Finalize the default is only removed", &controller{}, nil, ours, ""},
		{"one that no API server takes is refused", &finalizing{}, []Option{FinalizerName("not valid!")}, "",
			`controller *reconcile.finalizing: the finalizer "not valid!" isn't valid: `},
		{"a default that is none is refused as well", &kinded{kind: schema.GroupVersionKind{Group: "no group", Version: "v1", Kind: "Thing"}}, nil, "",
			"choose another by FinalizerName"},
		{"the default of a long kind is valid", &kinded{kind: schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "ApplicationConfigurationTemplate"}}, nil,
			"applicationconfigurationtemplate.infrastructure.cluster.x-k8s.io/finalizer", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			r, err := New(row.c, must(deploy.NewManager(w)), row.options...)
			if row.err != "" {
				assert.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, r.options.finalizers[0])
		})
	}
}

// kinded is a finalizing controller of another kind.
type kinded struct {
	finalizing
	kind schema.GroupVersionKind
}

func (k *kinded) Kind() schema.GroupVersionKind { return k.kind }

// configuredFinalizing is a finalizing controller with a configuration.
type configuredFinalizing struct{ finalizing }

func (*configuredFinalizing) Defaults() Defaults {
	return Defaults{Config: map[string]any{"bucket": "b", "keep": true}}
}

func TestFinalizeKnowsWhatIsWanted(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		annotation string
		config     map[string]any
		err        string
		logged     int
	}{
		"the configuration and the version": {"", map[string]any{"bucket": "b", "keep": false}, "", 0},
		"a ConfigMap too":                   {"there", map[string]any{"bucket": "theirs", "keep": false}, "", 0},
		"one that is gone, maybe with all of the namespace, doesn't hold the deletion up": {"gone", map[string]any{"bucket": "b", "keep": false}, "", 1},
		"one that says nothing sensible does":                                             {"there/none", nil, `annotation operkit.dev/config-defaults: "there/none": ConfigMap shop/there has no key none`, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			resource := wanting("9")
			resource.SetFinalizers([]string{ours})
			resource.Object["configOverrides"] = map[string]any{"keep": false}
			if row.annotation != "" {
				resource.SetAnnotations(map[string]string{"operkit.dev/config-defaults": row.annotation})
			}
			there := configMap("there")
			there.SetNamespace("shop")
			there.Object["data"] = map[string]any{"bucket": "theirs"}
			w := newWorldWith(t, resource, there)
			w.delete(widgetRef)
			c := &configuredFinalizing{}
			var config map[string]any
			c.finalize = func(_ context.Context, s *Session) error {
				config = s.Config()
				assert.Equal(t, "9", s.Version(), "supported or not")
				return nil
			}
			_, _, err := w.once(w.reconciler(c, SupportedVersions("1"), StrictVersions()))
			assert.Equal(t, row.config, config)
			assert.Equal(t, row.logged, w.logs.Count("finalizing without the configuration"))
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Nil(t, w.get(widgetRef))
		})
	}
}

func TestFinalizerOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	w := finalized(t, ours, "example.dev/others")
	w.delete(widgetRef)
	assert.Equal(t, []string{patchWidget}, w.calm(w.reconciler(adding(func(*Session) { assert.Fail(t, "it is set up") }))))
	assert.Equal(t, []string{"example.dev/others"}, w.widget().GetFinalizers())
}

// A Finalize may take components away as Setup's are.
func TestComponentsOfFinalize(t *testing.T) {
	t.Parallel()
	resource := widget()
	resource.SetFinalizers([]string{ours})
	w := newWorldWith(t, resource, owned(configMap("a"), widgetUID))
	w.delete(widgetRef)
	r := w.reconciler(&finalizing{finalize: func(ctx context.Context, s *Session) error {
		return s.Add("c", configMap("a")).Remove(ctx)
	}})
	assert.Equal(t, []string{"delete ConfigMap shop/a", patchWidget}, w.calm(r))
	assert.Nil(t, w.get(widgetRef))
}
