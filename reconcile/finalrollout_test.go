package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var namespaces = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// goodbye is a controller whose Finalize adds components, and can't fail.
func goodbye(add func(ctx context.Context, s *Session)) *finalizing {
	return &finalizing{finalize: func(ctx context.Context, s *Session) error { add(ctx, s); return nil }}
}

// going is a world in which the widget is being deleted; objects are in its namespace, which is an object too.
func going(t *testing.T, objects ...*unstructured.Unstructured) *world {
	t.Helper()
	resource := widget()
	resource.SetFinalizers([]string{ours})
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}}
	w := newWorldWith(t, resource, append(objects, namespace)...)
	w.delete(widgetRef)
	return w
}

func (w *world) deleteAs(ref deploy.Ref, propagation metav1.DeletionPropagation) {
	w.t.Helper()
	require.NoError(w.t, w.memory.Port().Delete(w.t.Context(), ref, deploy.DeleteOptions{Propagation: propagation}))
}

func TestFinalizeRollsOut(t *testing.T) {
	t.Parallel()
	t.Run("the finalizer leaves when all is verified, and ordinary components stay until then", func(t *testing.T) {
		t.Parallel()
		w, o := going(t, owned(configMap("ordinary"), widgetUID)), &told{}
		watcher := &ownRecorder{}
		c := goodbye(func(_ context.Context, s *Session) {
			backup := s.Add("backup", deployment("backup"))
			s.Add("farewell", configMap("farewell")).After(backup, Ready)
		})
		r := w.reconciler(c, Events(o), WithWatcher(watcher))
		calls, result, err := w.once(r)
		require.NoError(t, err)
		assert.Equal(t, []string{"apply Deployment shop/backup", writeStatus}, calls)
		assert.Equal(t, time.Minute, result.RequeueAfter)
		assert.Contains(t, watcher.made(), "Widget owns Deployment", "so that its readiness is seen")
		assert.Contains(t, w.message(), "backup: Deployment backup: InProgress")
		assert.Contains(t, w.message(), "farewell waits for backup")
		assert.Equal(t, []string{"Normal Created: component backup: created Deployment backup"}, o.texts())
		assert.Equal(t, widgetUID, w.get(deploymentRef("backup")).GetOwnerReferences()[0].UID)
		assert.Equal(t, 1, r.Tally().Resources[standing.Deleting])
		assert.Empty(t, w.calm(r), "nothing happened: nothing is called")
		assert.Empty(t, w.calm(w.reconciler(c)), "nor after a restart")

		w.makeReady("backup")
		assert.Equal(t, []string{"apply ConfigMap shop/farewell", patchWidget}, w.calm(r))
		assert.Nil(t, w.get(widgetRef))
		assert.Nil(t, w.get(deploymentRef("backup")), "the cluster collects what Finalize made")
		assert.Equal(t, []string{"Normal Created: component farewell: created ConfigMap farewell", "Normal Finalized: nothing is left to be finalized"}, o.texts())
	})
	t.Run("a restart between the last object and the finalizer does nothing twice", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		c := goodbye(func(_ context.Context, s *Session) { s.Add("farewell", configMap("farewell")) })
		w.refuse = refusing(&deploy.UnavailableError{Err: errNo}, patchWidget)
		_, _, err := w.once(w.reconciler(c))
		require.Error(t, err)
		w.refuse = nil
		assert.Equal(t, []string{patchWidget}, w.calm(w.reconciler(c)))
	})
	t.Run("while Finalize waits or fails nothing is rolled out", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		said := request.Precondition("not yet")
		r := w.reconciler(&finalizing{finalize: func(_ context.Context, s *Session) error {
			s.Add("farewell", configMap("farewell"))
			return said
		}})
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		said = nil
		assert.Equal(t, []string{"apply ConfigMap shop/farewell", patchWidget}, w.calm(r))
	})
	t.Run("patches, disabled components and hooks are as in a reconcile", func(t *testing.T) {
		t.Parallel()
		w := going(t, owned(configMap("old"), widgetUID))
		c := &hookedFinalizing{}
		c.finalize = func(_ context.Context, s *Session) error {
			s.Add("farewell", configMap("farewell"))
			s.Add("old", configMap("old")).Disable()
			return nil
		}
		c.after = errors.New("not signed off")
		r := w.reconciler(c, WithPatches(&meddling{}))
		calls, _, err := w.once(r)
		require.ErrorContains(t, err, "finalize: after the verification: not signed off")
		assert.ElementsMatch(t, []string{"apply ConfigMap shop/farewell", "delete ConfigMap shop/old", writeStatus}, calls)
		c.after = nil
		assert.Equal(t, []string{patchWidget}, w.calm(r))
	})
	t.Run("patches that can't be told hold the resource", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		_, _, err := w.once(w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("farewell", configMap("farewell")) }), WithPatches(patchless{})))
		require.ErrorContains(t, err, "finalize: patches: ")
		require.NotNil(t, w.get(widgetRef))
		assert.Equal(t, []string{patchWidget}, w.calm(w.reconciler(&finalizing{}, WithPatches(patchless{}))), "a Finalize that adds nothing needs none")
	})
	t.Run("mistakes are said before anything is written", func(t *testing.T) {
		t.Parallel()
		for reason, add := range map[string]func(s *Session){
			"component twice: is added twice":     func(s *Session) { s.Add("twice", configMap("a")); s.Add("twice", configMap("b")) },
			"already: remove it from one of them": func(s *Session) { s.Add("one", configMap("a")); s.Add("two", configMap("a")) },
			"a → b → a":                           func(s *Session) { a, b := s.Add("a"), s.Add("b"); a.After(b); b.After(a) },
		} {
			w := going(t)
			calls, _, err := w.once(w.reconciler(goodbye(func(_ context.Context, s *Session) { add(s) })))
			assert.Error(t, err, reason)
			assert.Equal(t, []string{writeStatus}, calls, reason)
		}
	})
	t.Run("in a dry run too", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		var seen []string
		r := w.reconciler(goodbye(func(_ context.Context, s *Session) {
			s.Add("farewell", configMap("farewell")).After(s.Add("backup", deployment("backup")), Ready)
		}), DryRun(), ObserveComponents(func(c *Component, _ deploy.Results) { seen = append(seen, c.Name()) }))
		w.calm(r)
		assert.Equal(t, []string{"backup", "farewell"}, seen)
	})
}

// hookedFinalizing is a finalizing controller with a hook.
type hookedFinalizing struct {
	finalizing
	after error
}

func (h *hookedFinalizing) AfterVerify(context.Context, *Session, Outcome) error { return h.after }

func TestFinalizeRemovesByItself(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		add    func(ctx context.Context, s *Session)
		calls  []string
	}{
		{"what is removed isn't rolled out", func(ctx context.Context, s *Session) {
			assert.NoError(t, s.Add("old", configMap("a")).Remove(ctx))
			s.Add("new", configMap("b"))
		}, []string{"delete ConfigMap shop/a", "apply ConfigMap shop/b", patchWidget}},
		{"what waits for it needn't any more", func(ctx context.Context, s *Session) {
			old := s.Add("old", configMap("a"))
			s.Add("new", configMap("b")).After(old, Ready)
			assert.NoError(t, old.Remove(ctx))
		}, []string{"delete ConfigMap shop/a", "apply ConfigMap shop/b", patchWidget}},
		{"two that wait for each other's removal", func(ctx context.Context, s *Session) {
			a := s.Add("a", configMap("a"))
			assert.NoError(t, s.Add("b", configMap("b")).After(a).Remove(ctx))
			assert.NoError(t, a.Remove(ctx))
		}, []string{"delete ConfigMap shop/a", patchWidget}},
		{"its object may come back in another one", func(ctx context.Context, s *Session) {
			assert.NoError(t, s.Add("old", configMap("a")).Remove(ctx))
			s.Add("new", configMap("a"))
		}, []string{"delete ConfigMap shop/a", "apply ConfigMap shop/a", patchWidget}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := going(t, owned(configMap("a"), widgetUID))
			assert.Equal(t, row.calls, w.calm(w.reconciler(goodbye(row.add))))
			assert.Nil(t, w.get(widgetRef))
		})
	}
}

func TestFailingComponentOfFinalizeHolds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, text, condition string
		breaks                  func(w *world)
		mends                   func(w *world)
	}{
		{"it failed", "Deployment backup: Failed", "Errored", func(w *world) { w.makeFailed("backup") }, func(w *world) { w.makeReady("backup") }},
		{"it is refused", "was refused: no", "ClusterError",
			func(w *world) {
				w.merge(deploymentRef("backup"), `{"spec":{"replicas":5}}`)
				w.refuse = refusing(forbidden("patch", "deployments"), "apply Deployment shop/backup")
			},
			func(w *world) {
				w.refuse = nil
				w.makeReady("backup")
				w.mergeStatus(deploymentRef("backup"), `{"status":{"observedGeneration":3}}`)
			}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w, o := going(t), &told{}
			r := w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("backup", deployment("backup")) }), Events(o))
			w.calm(r)
			o.texts()
			row.breaks(w)
			_, _, err := w.once(r)
			require.ErrorContains(t, err, "finalize: component backup: ")
			require.ErrorContains(t, err, row.text)
			require.ErrorContains(t, err, "correct it, or remove the finalizer "+ours+" to delete the resource anyway")
			assert.Equal(t, err.Error(), w.message())
			assert.Equal(t, "Initializing/"+row.condition, replaceReady(w.verdict()))
			assert.Equal(t, []string{ours}, w.widget().GetFinalizers())
			assert.Equal(t, []string{"Warning " + row.condition + ": " + err.Error()}, o.texts())
			_, _, err = w.once(r)
			require.Error(t, err)
			assert.Empty(t, o.texts(), "it is said once")
			row.mends(w)
			for range 3 {
				if w.get(widgetRef) != nil {
					_, _, _ = w.once(r)
				}
			}
			assert.Nil(t, w.get(widgetRef))
		})
	}
	t.Run("taking the finalizer off lets it go", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		r := w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("backup", deployment("backup")) }))
		w.calm(r)
		w.merge(widgetRef, `{"metadata":{"finalizers":null}}`)
		assert.Empty(t, w.calm(r))
		assert.Nil(t, w.get(deploymentRef("backup")))
	})
}

// replaceReady leaves of the verdict of a failed workload what all failures have.
func replaceReady(verdict string) string {
	if verdict == "Errored/Errored" {
		return "Initializing/Errored"
	}
	return verdict
}

func TestFinalizeInTerminatingNamespace(t *testing.T) {
	t.Parallel()
	shop := deploy.Ref{Kind: namespaces, Name: "shop"}
	held := func(name string) *unstructured.Unstructured {
		obj := owned(configMap(name), widgetUID)
		obj.SetFinalizers([]string{"example.dev/held"})
		return obj
	}
	for _, row := range []struct {
		reason string
		add    func(s *Session)
		note   []string
	}{
		{"a new object", func(s *Session) { s.Add("farewell", configMap("farewell")) }, []string{"farewell: ", "shop", "being terminated"}},
		{"what waits for it isn't started", func(s *Session) {
			s.Add("last", configMap("last")).After(s.Add("farewell", configMap("farewell")))
		}, []string{"farewell: ", "last "}},
		{"one that is there and one that isn't", func(s *Session) { s.Add("farewell", configMap("farewell")); s.Add("held", configMap("held")) }, []string{"farewell: ", "held: "}},
		{"what waits for something in it", func(s *Session) { s.Use("key", waitingBuilder{}) }, []string{"key: build: waiting for a key"}},
		{"what waits for something outside has no more time", func(s *Session) {
			s.Add("farewell", configMap("farewell"))
			s.Use("key", waitingBuilder{})
		}, []string{"farewell: ", "key: build: waiting for a key"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w, o := going(t, held("held")), &told{}
			w.delete(shop)
			r := w.reconciler(goodbye(func(_ context.Context, s *Session) { row.add(s) }), Events(o))
			w.calm(r)
			assert.Nil(t, w.get(widgetRef), "the finalizer is off")
			require.Len(t, o.events, 1)
			assert.Equal(t, event.Warning, o.events[0].Type)
			assert.Equal(t, EventUnfinished, o.events[0].Reason)
			for _, part := range row.note {
				assert.Contains(t, o.events[0].Note, part)
			}
			assert.Equal(t, 1, w.logs.Count("finalized without some components"))
		})
	}
	t.Run("what waits is held while its namespace stays, or can't be read", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		r := w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Use("key", waitingBuilder{}) }))
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Equal(t, "finalize: key: build: waiting for a key", w.message())
		assert.Empty(t, w.calm(r))
		w.delete(shop)
		w.serves(namespaces)
		w.calm(r)
		assert.NotNil(t, w.get(widgetRef))
	})
	t.Run("another failure holds it all the same", func(t *testing.T) {
		t.Parallel()
		w := going(t)
		w.delete(shop)
		w.refuse = refusing(forbidden("patch", "configmaps"), "apply ConfigMap bank/account")
		r := w.reconciler(goodbye(func(_ context.Context, s *Session) {
			s.Add("farewell", configMap("farewell"))
			s.Add("elsewhere", elsewhere("account"))
		}), OwnAnywhere())
		_, _, err := w.once(r)
		require.ErrorContains(t, err, "component elsewhere: ")
		assert.NotNil(t, w.get(widgetRef))
	})
	t.Run("what was rolled out before the namespace went is given up with it", func(t *testing.T) {
		t.Parallel()
		w, o := going(t), &told{}
		r := w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("backup", deployment("backup")) }), Events(o))
		w.calm(r)
		w.delete(shop)
		o.texts()
		w.calm(r)
		assert.Nil(t, w.get(widgetRef))
		assert.Contains(t, o.texts()[0], "Warning Unfinished: not rolled out, because a namespace is being deleted: backup: ")
	})
}

// waitingBuilder waits for something.
type waitingBuilder struct{}

func (waitingBuilder) Build(context.Context, *Session, *Component) error {
	return request.Precondition("waiting for a key")
}

func TestFinalizeUnderForegroundDeletion(t *testing.T) {
	t.Parallel()
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground} {
		t.Run(string(propagation), func(t *testing.T) {
			t.Parallel()
			child := owned(configMap("child"), widgetUID)
			child.SetFinalizers([]string{"example.dev/held"})
			blocks := true
			references := child.GetOwnerReferences()
			references[0].BlockOwnerDeletion = &blocks
			child.SetOwnerReferences(references)
			resource := widget()
			resource.SetFinalizers([]string{ours})
			w := newWorldWith(t, resource, child)
			w.deleteAs(widgetRef, propagation)
			require.Contains(t, w.widget().GetFinalizers(), metav1.FinalizerDeleteDependents)
			r := w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("backup", deployment("backup")) }))
			assert.Equal(t, []string{writeStatus}, w.calm(r))
			assert.Contains(t, w.message(), "waiting until the garbage collector has removed its finalizer foregroundDeletion")
			assert.Empty(t, w.calm(r))
			w.merge(configMapRef("child"), `{"metadata":{"finalizers":null}}`)
			assert.Equal(t, []string{"apply Deployment shop/backup", writeStatus}, w.calm(r))
			assert.NotNil(t, w.get(deploymentRef("backup")), "it isn't collected while the resource is there")
			w.makeReady("backup")
			assert.Equal(t, []string{patchWidget}, w.calm(r))
			assert.Nil(t, w.get(widgetRef))
			assert.Nil(t, w.get(deploymentRef("backup")))
		})
	}
	t.Run("without components nothing waits", func(t *testing.T) {
		t.Parallel()
		resource := widget()
		resource.SetFinalizers([]string{ours, metav1.FinalizerDeleteDependents})
		w := newWorldWith(t, resource)
		w.delete(widgetRef)
		assert.Equal(t, []string{patchWidget}, w.calm(w.reconciler(&finalizing{})))
	})
}

func TestFinalizeElsewhere(t *testing.T) {
	t.Parallel()
	account, slow := deploy.Ref{Kind: configMaps, Namespace: "bank", Name: "account"}, deploy.Ref{Kind: clusterRoles, Name: "slow"}
	w := newWorld(t)
	c := goodbye(func(_ context.Context, s *Session) { s.Add("account", elsewhere("account")) })
	c.setup = func(_ context.Context, s *Session) error { s.Add("c", clusterRole("slow")); return nil }
	r := w.reconciler(c, OwnAnywhere())
	w.calm(r)
	w.merge(slow, `{"metadata":{"finalizers":["example.dev/held"]}}`)
	w.delete(widgetRef)
	assert.Equal(t, []string{writeStatus, "apply ConfigMap bank/account", "delete ClusterRole slow", writeStatus}, w.calm(r),
		"its kind is remembered first, and ordinary objects go before those of Finalize")
	assert.Empty(t, w.calm(r), "which isn't made again and again meanwhile")
	assert.NotNil(t, w.get(account))
	w.merge(slow, `{"metadata":{"finalizers":null}}`)
	assert.Equal(t, []string{"delete ConfigMap bank/account", patchWidget}, w.calm(r))
	assert.Nil(t, w.get(account))
	assert.Nil(t, w.get(widgetRef))

	t.Run("a kind that is new in the last reconcile isn't left behind", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(c, OwnAnywhere()))
		w.delete(widgetRef)
		assert.Contains(t, w.calm(w.reconciler(goodbye(func(_ context.Context, s *Session) { s.Add("account", elsewhere("account")) }), OwnAnywhere())),
			"delete ConfigMap bank/account")
		assert.Nil(t, w.get(widgetRef))
		assert.Nil(t, w.get(account))
	})
}
