package podhash_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// real is a harness on a real API server.
type real struct {
	*reconciletest.Harness
	t   *testing.T
	env *envtest.Env
}

func onServer(t *testing.T, setup func(s *reconcile.Session), options ...podhash.Option) *real {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("testdata/shops.yaml"))
	c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	controller := reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error { setup(s); return nil })
	return &real{reconciletest.New(t, controller, reconciletest.On(c, 0), reconciletest.Namespace(env.Namespace),
		reconciletest.With(podhash.Components(options...))), t, env}
}

// replicaSets returns how many ReplicaSets the Deployments have had: one more for each roll.
func (r *real) replicaSets() int {
	r.t.Helper()
	found, err := r.Cluster().View().List(r.t.Context(), schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, r.env.Namespace, nil)
	require.NoError(r.t, err)
	return len(found)
}

// settled asserts that another run takes no request.
func (r *real) settled() {
	r.t.Helper()
	mark := r.env.Mark(r.t)
	r.Restart()
	r.RunUntilSettled()
	r.Writes(0)
	calls := r.env.CallsSince(r.t, mark, r.env.Self)
	assert.Empty(r.t, calls.Writes())
}

func TestOnServer(t *testing.T) {
	t.Parallel()
	t.Run("podhash 15: on the API server a changed Secret rolls a Deployment once", func(t *testing.T) {
		t.Parallel()
		r := onServer(t, setups["the same component"])
		foreign(r.Harness, "one")
		r.Apply(shop)
		r.RunUntilSettled()
		r.Ready("Shop tea")
		require.Equal(t, 1, r.replicaSets())
		r.settled()

		change(t, r.Harness, "second-password")
		r.RunUntilSettled()
		r.Configured("Secret own", "Deployment web")
		r.Ready("Shop tea")
		assert.Equal(t, 2, r.replicaSets())

		foreign(r.Harness, "two")
		r.RunUntilSettled()
		r.Configured("Deployment web")
		r.Ready("Shop tea")
		assert.Equal(t, 3, r.replicaSets())
		r.settled()
	})
	t.Run("podhash 17: a Pod template with oper8's hash moves over without a restart", func(t *testing.T) {
		t.Parallel()
		content := func() fields {
			moved := workload()
			moved["spec"].(fields)["template"].(fields)["spec"].(fields)["volumes"] = list{fields{"name": "own", "secret": fields{"secretName": "own"}}}
			return moved
		}
		owned := fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "own"}, "data": fields{"k": "dg=="}}
		r := onServer(t, func(s *reconcile.Session) { s.Add("web", content(), owned) }, podhash.Oper8())
		before := (&unstructured.Unstructured{Object: content()}).DeepCopy()
		// sha1('Secretown{"k": "dg=="}')
		require.NoError(t, unstructured.SetNestedField(before.Object, "39b77cf3b07d0f949be10dba92eee5a08e849953", "spec", "template", "metadata", "annotations", "oper8.org/dependency-hash"))
		r.Apply(shop)
		owner := r.Get("Shop tea")
		for _, obj := range []*unstructured.Unstructured{{Object: owned}, before} {
			obj = obj.DeepCopy()
			obj.SetNamespace(r.env.Namespace)
			obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}})
			_, err := r.Cluster().Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: "oper8"})
			require.NoError(t, err)
		}
		require.Eventually(t, func() bool { return r.replicaSets() == 1 }, time.Minute, 50*time.Millisecond)
		running := r.Get("Deployment web").Object["spec"]
		r.RunUntilSettled()
		r.Ready("Shop tea")
		assert.Equal(t, 1, r.replicaSets())
		assert.Equal(t, running, r.Get("Deployment web").Object["spec"])
		r.settled()
	})
}
