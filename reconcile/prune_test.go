package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var serviceAccounts = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}

func serviceAccount(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": name},
	}}
}

func (w *world) kinds() []any {
	w.t.Helper()
	kinds, _, err := unstructured.NestedSlice(w.widget().Object, "status", "componentStatus", "kinds")
	require.NoError(w.t, err)
	return kinds
}

func TestPrune(t *testing.T) {
	t.Parallel()
	t.Run("reconcile mistake 28: what is rendered no more goes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		names := []string{"a", "b", "c"}
		r := w.reconciler(adding(func(s *Session) {
			for _, name := range names {
				s.Add(name, configMap(name))
			}
		}))
		w.calm(r)
		names = []string{"a"}
		assert.Equal(t, []string{"delete ConfigMap shop/c", "delete ConfigMap shop/b", writeStatus}, w.calm(r))
		assert.Contains(t, w.ended(), `rolled out: deleted=2 objects="ConfigMap b, ConfigMap c" duration=0s`)
		assert.Empty(t, w.calm(r), "and costs nothing from then on")
	})
	t.Run("what holds data is kept, unless its kind is named", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		claims := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
		names := []string{"a", "b"}
		setup := adding(func(s *Session) {
			s.Add("settings", configMap("c"))
			for _, name := range names {
				s.Add(name, map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": name},
					"spec": map[string]any{"storageClassName": "none", "accessModes": []any{"ReadWriteOnce"}}})
			}
		})
		var recorded []string
		r := w.reconciler(setup, Events(event.Func(func(e event.Event) {
			if e.Reason == EventKept {
				recorded = append(recorded, string(e.Type)+": "+e.Note)
			}
		})))
		w.calm(r)
		names = nil
		assert.NotContains(t, w.calm(r), "delete PersistentVolumeClaim shop/a")
		assert.Empty(t, w.calm(r), "and costs nothing from then on")
		assert.Equal(t, []string{"Warning: kept although no component renders it any more, because deleting it would lose data: " +
			"PersistentVolumeClaim a, PersistentVolumeClaim b: delete it, or let the operator prune its kind by the option reconcile.Prunes"}, recorded, "once")
		assert.Equal(t, []any{"v1/ConfigMap", "v1/PersistentVolumeClaim"}, w.kinds(), "it is remembered")
		plan, err := r.Plan(t.Context(), w.widget())
		require.NoError(t, err)
		assert.Empty(t, plan.Pruned)

		named := w.reconciler(setup, Prunes(claims))
		assert.Equal(t, []string{"delete PersistentVolumeClaim shop/b", "delete PersistentVolumeClaim shop/a", writeStatus}, w.calm(named))
		assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
	})
	t.Run("a kind that is rendered no more is remembered until nothing is left of it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		account := true
		setup := adding(func(s *Session) {
			s.Add("settings", configMap("a"))
			if account {
				s.Add("account", serviceAccount("b"))
			}
		})
		w.calm(w.reconciler(setup))
		assert.Equal(t, []any{"v1/ConfigMap", "v1/ServiceAccount"}, w.kinds())
		ref := deploy.Ref{Kind: serviceAccounts, Namespace: "shop", Name: "b"}
		w.merge(ref, `{"metadata":{"finalizers":["example.dev/held"]}}`)

		account = false
		restarted := w.reconciler(setup)
		assert.Equal(t, []string{"delete ServiceAccount shop/b", writeStatus}, w.calm(restarted))
		assert.Empty(t, w.calm(restarted), "it is going")
		assert.Equal(t, []any{"v1/ConfigMap", "v1/ServiceAccount"}, w.kinds())
		w.merge(ref, `{"metadata":{"finalizers":null}}`)
		assert.Equal(t, []string{writeStatus}, w.calm(restarted))
		assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
	})
	t.Run("a kind that an older release had, although its status was lost", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", serviceAccount("b")) })))
		w.mergeStatus(widgetRef, `{"status":null}`)
		none := adding(func(s *Session) {})
		assert.Equal(t, []string{writeStatus}, w.calm(w.reconciler(none)), "nobody knows of it")
		unknown := schema.GroupVersionKind{Group: "gone.dev", Version: "v1", Kind: "Gone"}
		w.unknown = []schema.GroupVersionKind{unknown}
		calls := w.calm(w.reconciler(none, Prunes(serviceAccounts, unknown)))
		assert.True(t, slices.Contains(calls, "delete ServiceAccount shop/b"), calls)
	})
	for reason, row := range map[string]struct {
		passing, interrupted bool
		refuse               func(call string) error
	}{
		"a reconcile that ended without a word": {passing: true},
		"a status that couldn't be written": {refuse: func(call string) error {
			if call == writeStatus {
				return &deploy.StaleError{Ref: widgetRef, Err: errors.New("changed")}
			}
			return nil
		}},
		"a reconcile that was interrupted": {interrupted: true},
	} {
		t.Run("a kind that was given up after "+reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.refuse = row.refuse
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			account := &particular{built: built{func(_ context.Context, _ *Session, c *Component) error {
				c.Add("b", serviceAccount("b"))
				return nil
			}}, note: func(step string) {
				if row.interrupted && step == "verify account" {
					interrupt()
				}
			}}
			if row.passing {
				account.deploy = request.Passing(errors.New("the helper is started again"))
			}
			r := w.reconciler(adding(func(s *Session) {
				if account != nil {
					s.Use("account", account)
				}
			}))
			_, err := r.Reconcile(ctx, widgetRequest)
			require.Error(t, err)
			require.NotContains(t, w.widget().Object, "status")
			w.refuse, account = nil, nil
			assert.Equal(t, []string{"delete ServiceAccount shop/b", writeStatus}, w.calm(r))
			assert.Empty(t, w.calm(r), "and costs nothing from then on")
			r.lifecycle.Memory.Look(widgetRef, func(m *memory.Resource) { assert.Empty(t, m.Unwritten) })
		})
	}
	t.Run("only what this operator applied for this resource", func(t *testing.T) {
		t.Parallel()
		byHand, free := configMap("by-hand"), configMap("free")
		for _, obj := range []*unstructured.Unstructured{byHand, free} {
			obj.SetNamespace("shop")
		}
		byHand.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.dev/v1", Kind: "Widget", Name: "w", UID: widgetUID}})
		w := newWorld(t, byHand, free)
		other := must(deploy.NewManager(w.memory, deploy.OwnedBy(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "v", "namespace": "shop", "uid": "uid-of-v"},
		}})))
		_, err := other.Apply(t.Context(), []*unstructured.Unstructured{configMap("others")})
		require.NoError(t, err)
		assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }))))
	})
	t.Run("nothing goes while not everything is deployed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		two := true
		r := w.reconciler(adding(func(s *Session) {
			s.Add("a", configMap("a"))
			if two {
				s.Add("b", configMap("b"))
				return
			}
			s.Use("broken", &particular{built: *building(), note: func(string) {}, deploy: errors.New("broken")})
		}))
		w.calm(r)
		two = false
		calls, _, err := w.once(r)
		require.Error(t, err)
		assert.Equal(t, []string{writeStatus}, calls, "the broken one may render it, who knows")
		assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
	})
	t.Run("a deletion that fails is told", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		two := true
		r := w.reconciler(adding(func(s *Session) {
			if s.Add("a", configMap("a")); two {
				s.Add("b", configMap("b"))
			}
		}))
		w.calm(r)
		two = false
		w.refuse = func(call string) error {
			if call == "delete ConfigMap shop/b" {
				return &deploy.ForbiddenError{Verb: "delete", Resource: schema.GroupResource{Resource: "configmaps"}, Err: errNo}
			}
			return nil
		}
		_, _, err := w.once(r)
		require.ErrorContains(t, err, "prune: ")
		assert.Equal(t, "ClusterError", w.condition("Updating").Reason)
		w.refuse = nil
		assert.Equal(t, []string{"delete ConfigMap shop/b", writeStatus}, w.calm(r))
	})
	t.Run("what isn't a kind in the status is passed over", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for _, kinds := range []string{`"x"`, `[1]`, `["", "/", "v1/", "a/b/c/d", "ConfigMap"]`} {
			w.mergeStatus(widgetRef, `{"status":{"componentStatus":{"kinds":`+kinds+`}}}`)
			w.calm(w.reconciler(adding(func(s *Session) { s.Add("a", configMap("a")) })))
			assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
		}
	})
}

// A reconcile that doesn't get to its end forgets nothing that has to be found again.
func TestKindsOutliveATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := deploy.Ref{Kind: configMaps, Namespace: "bank", Name: "account"}
		slow := false
		b := &built{func(ctx context.Context, _ *Session, _ *Component) error {
			if !slow {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}}
		r := w.reconciler(adding(func(s *Session) {
			s.Add("c", elsewhere("account"))
			s.Use("slow", b)
		}), OwnAnywhere())
		w.calm(r)
		require.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
		slow = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Reconcile(ctx, widgetRequest)
		require.Error(t, err)
		assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())

		w.delete(widgetRef)
		later := w.reconciler(adding(func(*Session) {}), OwnAnywhere())
		w.calm(later)
		w.calm(later)
		require.Nil(t, w.get(widgetRef))
		assert.Nil(t, w.get(account))
	})
}

func TestPruneKnowsGeneratedNames(t *testing.T) {
	t.Parallel()
	for reason, builder := range map[string]Builder{
		"deployed the usual way": &built{}, "deployed by the session's manager": &appliesItself{},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			wanted := true
			r := w.reconciler(adding(func(s *Session) {
				c := s.Use("c", builder)
				if wanted {
					c.Add("a", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "a-"}}, By(deploy.CreateOnly))
				}
			}))
			w.calm(r)
			made := w.list(configMaps, "a-")
			require.Len(t, made, 1)
			for range 3 {
				assert.Empty(t, w.calm(r))
			}
			assert.Equal(t, made, w.list(configMaps, "a-"), "the same one")
			wanted = false
			w.calm(r)
			assert.Empty(t, w.list(configMaps, "a-"))
		})
	}
}

// list returns the names of the objects of kind in the shop that begin with prefix.
func (w *world) list(kind schema.GroupVersionKind, prefix string) (names []string) {
	w.t.Helper()
	found, err := w.memory.View().List(w.t.Context(), kind, "shop", nil)
	require.NoError(w.t, err)
	for _, obj := range found {
		if strings.HasPrefix(obj.GetName(), prefix) {
			names = append(names, obj.GetName())
		}
	}
	return names
}

// The versions of a kind are the same objects: an older one is neither remembered nor watched beside the present one.
func TestOtherVersionsOfAKindAreForgotten(t *testing.T) {
	t.Parallel()
	seed := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": map[string]any{"name": "seed", "namespace": "bank"}}}
	w := newWorld(t, seed)
	watcher := &ownRecorder{}
	r := w.reconciler(adding(func(s *Session) { s.Add("c", deployment("d")) }), WithWatcher(watcher))
	w.calm(r)
	w.mergeStatus(widgetRef, `{"status":{"componentStatus":{"kinds":["apps/v1beta1/Deployment"]}}}`)
	w.calm(r)
	assert.Equal(t, []any{"apps/v1/Deployment"}, w.kinds())
	assert.NotContains(t, watcher.made(), "v1beta1")
	assert.NotNil(t, w.get(deploymentRef("d")))
}

// A release that gives a kind up may give the right to it up as well: that fails nothing.
func TestPruneWithoutTheRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.calm(w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a"), deployment("d")) })))
	w.makeReady("d")
	watcher := &ownRecorder{failFor: map[schema.GroupVersionKind]error{deployments: forbidden("list and watch", "deployments")}}
	r := w.reconciler(adding(func(s *Session) { s.Add("c", configMap("a")) }), WithWatcher(watcher))
	for range 2 {
		_, _, err := w.once(r)
		require.NoError(t, err)
	}
	assert.Equal(t, "Stable/Stable", w.verdict())
	assert.Equal(t, []any{"apps/v1/Deployment", "v1/ConfigMap"}, w.kinds(), "it is still known what is left")
	assert.Equal(t, 2, w.logs.Count("the operator isn't allowed to access it"))
	watcher.failFor = nil
	w.calm(r)
	assert.Nil(t, w.get(deploymentRef("d")))
}
