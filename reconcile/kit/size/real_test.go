package size_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var webRef = deploy.Ref{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "web"}

// real is a harness on a real API server.
type real struct {
	*reconciletest.Harness
	t   *testing.T
	env *envtest.Env

	mu sync.Mutex
	// numbers are the numbers of replicas that web has had, one after the other.
	numbers []any
}

func onServer(t *testing.T, options ...size.Option) *real {
	t.Helper()
	env := envtest.Start(t, envtest.CRDs("testdata/shops.yaml"))
	c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	r := &real{Harness: harness(t, store, sized(t, options...), reconciletest.On(c, 1500*time.Millisecond), reconciletest.Namespace(env.Namespace)), t: t, env: env}
	_, err = c.View().Subscribe(t.Context(), webRef.Kind, func(e deploy.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.New == nil || e.New.GetName() != "web" {
			return
		}
		n := e.New.Object["spec"].(fields)["replicas"]
		if len(r.numbers) == 0 || r.numbers[len(r.numbers)-1] != n {
			r.numbers = append(r.numbers, n)
		}
	})
	require.NoError(t, err)
	return r
}

// scale sets the number of replicas as an autoscaler does.
func (r *real) scale(n int) {
	r.t.Helper()
	ref := webRef
	ref.Namespace = r.env.Namespace
	_, err := r.Cluster().Port().Patch(r.t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Subresource: "scale",
		FieldManager: "kube-controller-manager", Body: fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)})
	require.NoError(r.t, err)
}

// runs runs until nothing happens, and asserts the number of replicas of web afterwards.
func (r *real) runs(want int64) {
	r.t.Helper()
	r.RunUntilSettled()
	assert.EqualValues(r.t, want, replicas(r.Harness, "Deployment web"))
}

// scaledTo waits until the autoscaler of the cluster has set the number of replicas of web to its minimum.
func (r *real) scaledTo(want int64) {
	r.t.Helper()
	ref := webRef
	ref.Namespace = r.env.Namespace
	require.Eventually(r.t, func() bool {
		live, err := r.Cluster().View().Get(r.t.Context(), ref)
		return err == nil && live != nil && live.Object["spec"].(fields)["replicas"] == want
	}, 2*time.Minute, 100*time.Millisecond)
	r.runs(want)
}

// quiet asserts that the latest run wrote nothing but the status of the shop.
func (r *real) quiet() {
	r.t.Helper()
	for _, call := range r.Calls() {
		assert.False(r.t, call.Write() && call.Subresource == "", call.String())
	}
}

// settled asserts that another process writes nothing, once the Pods have started and ended.
func (r *real) settled() {
	r.t.Helper()
	for range 5 {
		mark := r.env.Mark(r.t)
		r.Restart()
		r.RunUntilSettled()
		r.quiet()
		if len(r.env.CallsSince(r.t, mark, r.env.Self).Writes()) == 0 {
			return
		}
	}
	r.t.Error("it writes the status again and again")
}

// had asserts the numbers of replicas that web has had, one after the other.
func (r *real) had(want ...any) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Equal(r.t, want, r.numbers)
}

func TestScalerOnServer(t *testing.T) {
	t.Parallel()
	t.Run("size 20: on the API server a scaler that isn't declared keeps its number until it is taken back", func(t *testing.T) {
		t.Parallel()
		r := onServer(t)
		r.Apply(shop(fields{"size": "large"}))
		r.runs(3)
		r.settled()
		r.scale(5)
		r.runs(5)
		r.quiet()
		edit(t, r.Harness, fields{"image": "example.invalid/web:2"})
		r.runs(5)
		edit(t, r.Harness, fields{"size": "small"})
		r.runs(5)
		requests, _, err := unstructured.NestedSlice(r.Get("Deployment web").Object, "spec", "template", "spec", "containers")
		require.NoError(t, err)
		assert.Equal(t, fields{"requests": fields{"cpu": "100m", "memory": "128Mi"}}, requests[0].(fields)["resources"])
		r.settled()

		edit(t, r.Harness, fields{"overrides": fields{"web": fields{"replicas": int64(0)}}})
		r.runs(0)
		r.settled()
		edit(t, r.Harness, fields{"overrides": nil})
		r.runs(1)
		r.settled()
		r.had(int64(3), int64(5), int64(0), int64(1))
	})
	t.Run("size 20: on the API server the number is handed over to a scaler and back, without a reset", func(t *testing.T) {
		t.Parallel()
		r := onServer(t)
		r.Apply(shop(fields{"size": "large"}))
		r.runs(3)
		edit(t, r.Harness, fields{"scaled": true})
		r.runs(3)
		edit(t, r.Harness, fields{"size": "small", "image": "example.invalid/web:1"})
		r.runs(3)
		r.settled()

		r.scale(6)
		r.runs(6)
		edit(t, r.Harness, fields{"image": "example.invalid/web:2"})
		r.runs(6)
		r.settled()
		edit(t, r.Harness, fields{"size": "large"})
		r.runs(6)

		edit(t, r.Harness, fields{"overrides": fields{"web": fields{"replicas": int64(0)}}})
		r.runs(0)
		r.settled()
		edit(t, r.Harness, fields{"overrides": nil})
		r.RunUntilSettled()
		r.scaledTo(2)
		r.scale(4)
		r.runs(4)
		r.settled()

		edit(t, r.Harness, fields{"scaled": nil})
		r.runs(3)
		r.Gone("HorizontalPodAutoscaler web")
		assert.Empty(t, r.Get("Deployment web").GetAnnotations()["operkit.dev/scaled"])
		r.settled()
		r.had(int64(3), int64(6), int64(0), int64(1), int64(2), int64(4), int64(3))
	})
	t.Run("size 20: on the API server a component that is scaled from the start has no number", func(t *testing.T) {
		t.Parallel()
		r := onServer(t)
		r.Apply(shop(fields{"size": "large", "scaled": true}))
		r.RunUntilSettled()
		for _, entry := range r.Get("Deployment web").GetManagedFields() {
			if entry.Operation == "Apply" {
				assert.NotContains(t, entry.FieldsV1.String(), "f:replicas")
			}
		}
		r.scaledTo(2)
		r.quiet()
		edit(t, r.Harness, fields{"size": "small"})
		r.runs(2)
		r.settled()
		r.had(int64(1), int64(2))
	})
}
