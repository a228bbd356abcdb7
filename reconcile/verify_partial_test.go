package reconcile

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// partialCluster has a View that holds all but widgets as metadata.
type partialCluster struct{ *recorder }

func (c partialCluster) View() deploy.View { return partialView{c.recorder.View(), c.recorder} }

type partialView struct {
	deploy.View
	*recorder
}

// Get asks the cluster for what isn't held whole.
func (v partialView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if ref.Kind != widgets {
		if err := v.record("read", ref, ""); err != nil {
			return nil, err
		}
	}
	return v.View.Get(ctx, ref)
}

func (v partialView) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	obj, err := v.View.Get(ctx, ref)
	if ref.Kind == widgets || obj == nil || err != nil {
		return obj, true, err
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": obj.GetAPIVersion(), "kind": obj.GetKind(), "metadata": obj.Object["metadata"],
	}}, false, nil
}

func TestVerifyOfMetadata(t *testing.T) {
	t.Parallel()
	roles := schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}
	deployments := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	whole := func(_ context.Context, live *unstructured.Unstructured) error {
		if live.Object["data"] == nil {
			return request.Precondition("it has no data")
		}
		return nil
	}
	plain := func(kind schema.GroupVersionKind) func(*Session) {
		return func(s *Session) { s.Add("c", object(kind, "a")) }
	}
	for _, row := range []struct {
		reason string
		setup  func(*Session)
		// settled are the calls of a reconcile that has nothing to do.
		settled []string
		verdict string
	}{
		{"status 25: what is ready by being there is asked nothing", plain(secretKind), nil, "Stable/Stable"},
		{"status 25: of whatever group", plain(roles), nil, "Stable/Stable"},
		{"status 25: what has replicas is looked at whole", plain(deployments), []string{"read Deployment shop/a"}, "Initializing/VerifyWait"},
		{"so is what a function judges", func(s *Session) {
			secret := object(secretKind, "a")
			secret.Object["data"] = map[string]any{"a": "b"}
			s.Add("c").Add("a", secret, ReadyWhen(whole))
		}, []string{"read Secret shop/a"}, "Stable/Stable"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r, err := New(adding(row.setup), must(deploy.NewManager(partialCluster{w.recorder})), Clock(w.clock.Now))
			require.NoError(t, err)
			w.calm(r)
			assert.Equal(t, row.verdict, w.verdict())
			assert.Equal(t, row.settled, w.calm(r))
		})
	}
	t.Run("status 24: its end is seen all the same", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r, err := New(adding(plain(secretKind)), must(deploy.NewManager(partialCluster{w.recorder})), Clock(w.clock.Now))
		require.NoError(t, err)
		w.calm(r)
		ref := deploy.Ref{Kind: secretKind, Namespace: "shop", Name: "a"}
		w.merge(ref, `{"metadata":{"finalizers":["example.dev/slow"]}}`)
		w.delete(ref)
		assert.Equal(t, []string{writeStatus}, w.calm(r))
		assert.Contains(t, w.message(), "Secret shop/a")
	})
}
