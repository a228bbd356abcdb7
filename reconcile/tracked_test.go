package reconcile

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var clusterRoles = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}

func clusterRole(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name}, "rules": []any{},
	}}
}

func elsewhere(name string) *unstructured.Unstructured {
	obj := configMap(name)
	obj.SetNamespace("bank")
	return obj
}

func TestOwnAnywhere(t *testing.T) {
	t.Parallel()
	role := deploy.Ref{Kind: clusterRoles, Name: "r"}
	account := deploy.Ref{Kind: configMaps, Namespace: "bank", Name: "account"}
	t.Run("deploy 27, W12: what can't refer to its owner goes with it all the same", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		both := true
		r := w.reconciler(adding(func(s *Session) {
			c := s.Add("c", clusterRole("r"), configMap("near"))
			if both {
				c.Add("", elsewhere("account"))
			}
		}), OwnAnywhere())
		assert.Equal(t, []string{patchWidget, writeStatus, "apply ClusterRole r", "apply ConfigMap shop/near", "apply ConfigMap bank/account", writeStatus}, w.calm(r),
			"the finalizer and the kinds come first")
		assert.Empty(t, w.calm(r))
		assert.Equal(t, string(widgetUID), w.get(role).GetLabels()["operkit.dev/owner-uid"])
		assert.Empty(t, w.get(role).GetOwnerReferences())
		assert.Len(t, w.get(configMapRef("near")).GetOwnerReferences(), 1)

		both = false
		assert.Equal(t, []string{"delete ConfigMap bank/account"}, w.calm(r), "reconcile mistake 28: pruned as well")

		w.merge(role, `{"metadata":{"finalizers":["example.dev/held"]}}`)
		w.delete(widgetRef)
		assert.Equal(t, []string{"delete ClusterRole r", writeStatus}, w.calm(r))
		assert.Equal(t, "delete objects owned by label: waiting until ClusterRole r is gone", w.message())
		w.merge(role, `{"metadata":{"finalizers":null}}`)
		assert.Equal(t, []string{patchWidget}, w.calm(r), "then the finalizer comes off")
		assert.Nil(t, w.get(widgetRef))
	})
	t.Run("a crash after the first object loses nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		setup := adding(func(s *Session) { s.Add("c", elsewhere("account")) })
		statuses := 0
		w.refuse = func(call string) error {
			if call == writeStatus {
				if statuses++; statuses > 1 {
					return &deploy.UnavailableError{Err: errNo}
				}
			}
			return nil
		}
		_, _, _ = w.once(w.reconciler(setup, OwnAnywhere()))
		require.NotNil(t, w.get(account))
		w.refuse = nil
		w.delete(widgetRef)
		none := adding(func(*Session) {})
		w.calm(w.reconciler(none, OwnAnywhere()))
		w.calm(w.reconciler(none, OwnAnywhere()))
		assert.Nil(t, w.get(account))
		assert.Nil(t, w.get(widgetRef))
	})
	t.Run("nothing is applied that couldn't be remembered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.refuse = refusing(&deploy.UnavailableError{Err: errNo}, writeStatus)
		_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("c", elsewhere("account")) }), OwnAnywhere()))
		require.ErrorContains(t, err, "remember the kinds of its objects")
		assert.Nil(t, w.get(account))
	})
	t.Run("nothing is applied where the schema drops what is to be remembered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.drops = []string{"componentStatus", "kinds"}
		_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Add("c", elsewhere("account")) }), OwnAnywhere()))
		require.ErrorContains(t, err, "the CustomResourceDefinition of Widget drops status.componentStatus.kinds: add it to the schema")
		assert.Nil(t, w.get(account))
	})
	t.Run("a schema that is mended forgets nothing that is applied from then on", func(t *testing.T) {
		t.Parallel()
		for _, drops := range [][]string{{"componentStatus", "kinds"}, {"componentStatus"}} {
			w := newWorld(t)
			w.drops = drops
			r := w.reconciler(adding(func(s *Session) { s.Add("c", elsewhere("account")) }), OwnAnywhere())
			for range 2 {
				_, _, err := w.once(r)
				require.ErrorContains(t, err, "add it to the schema")
			}
			w.drops = nil
			assert.Equal(t, []string{writeStatus, "apply ConfigMap bank/account", writeStatus}, w.calm(r))
			assert.Equal(t, []any{"v1/ConfigMap"}, w.kinds())
			w.delete(widgetRef)
			assert.Equal(t, []string{"delete ConfigMap bank/account", patchWidget}, w.calm(r))
			assert.Nil(t, w.get(account))
			assert.Nil(t, w.get(widgetRef))
		}
	})
	t.Run("what a backup brought back under the uid of a former owner is adopted, and goes with its owner", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.reconciler(adding(func(s *Session) { s.Add("c", elsewhere("account"), clusterRole("r")) }), OwnAnywhere())
		w.calm(r)
		for _, ref := range []deploy.Ref{account, role} {
			w.merge(ref, `{"metadata":{"labels":{"operkit.dev/owner-uid":"f77dab7f-9094-4856-8f06-35d87008cdfa"}}}`)
		}
		assert.Equal(t, []string{"apply ConfigMap bank/account", "apply ClusterRole r"}, w.calm(r))
		assert.Empty(t, w.calm(r))
		assert.Equal(t, string(widgetUID), w.get(role).GetLabels()["operkit.dev/owner-uid"])
		w.delete(widgetRef)
		assert.Equal(t, []string{"delete ConfigMap bank/account", "delete ClusterRole r", patchWidget}, w.calm(r))
		assert.Nil(t, w.get(account))
		assert.Nil(t, w.get(role))
	})
	t.Run("without it such an object is refused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, _, err := w.once(w.reconciler(&controller{func(_ context.Context, s *Session) error { s.Add("c", clusterRole("r")); return nil }}))
		require.ErrorContains(t, err, "OwnedByLabel")
	})
}
