package reconciletest

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// TestDrive runs the same test of a style without sessions in memory and on a control plane.
func TestDrive(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		// In a bubble, since the style has an external source.
		synctest.Test(t, func(t *testing.T) { driven(t, inMemory(t)) })
	})
	t.Run("on a control plane", func(t *testing.T) {
		t.Parallel()
		driven(t, onControlPlane(t))
	})
}

func driven(t *testing.T, options []reconciletest.Option) {
	t.Helper()
	orders := make(chan deploy.Ref, 1)
	var fails []func() error
	var p *painter
	h := reconciletest.Drive(t, watch.NewController(shops, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		p = &painter{env: env, orders: orders, fails: &fails}
		return p, nil
	}), options...)
	sign := func(text string) func() {
		return func() {
			h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"sign": text} })
		}
	}
	for _, row := range []struct {
		reason string
		do     func()
		want   []string
	}{
		{"it is created; the write of its sign is no news", func() { h.Apply(tea) }, []string{"changed 0", "sees ADDED"}},
		{"nothing happens", func() {}, nil},
		{"a label doesn't count, but it is observed", func() {
			h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
		}, []string{"sees MODIFIED"}},
		{"a status doesn't count, but it is observed", func() { h.SetStatus("Shop tea", map[string]any{"a": "b"}) }, []string{"sees MODIFIED"}},
		{"a spec counts", sign("closed"), []string{"changed 0", "sees MODIFIED"}},
		{"somebody changes the sign", func() {
			h.Edit("ConfigMap tea-sign", func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"text": "theirs"} })
		}, []string{"child 0"}},
		{"somebody deletes the sign", func() { h.Delete("ConfigMap tea-sign") }, []string{"child 0"}},
		{"an object of another kind concerns it", func() {
			h.Apply("{apiVersion: v1, kind: Secret, metadata: {name: key, labels: {shop: tea}}}")
		}, []string{"mapped 0"}},
		{"a key comes from outside", func() { orders <- deploy.Ref{Namespace: h.Get("Shop tea").GetNamespace(), Name: "tea"} }, []string{"external 0"}},
		{"failures are retried with a backoff", func() {
			fails = []func() error{noLuck, noLuck}
			sign("open")()
		}, []string{"changed 0", "retry 1", "retry 2", "sees MODIFIED"}},
		{"so is a panic", func() {
			fails = []func() error{func() error { panic("boom") }}
			sign("closed")()
		}, []string{"changed 0", "retry 1", "sees MODIFIED"}},
		{"a permanent failure isn't", func() {
			fails = []func() error{func() error { return request.Permanent(noLuck()) }}
			sign("open")()
		}, []string{"changed 0", "sees MODIFIED"}},
		{"a result asks for a time", sign("soon"), []string{"changed 0", "periodic 0", "sees MODIFIED"}},
		{"it leaves the view", func() { h.Leave("Shop tea") }, []string{"forgets", "sees LEFT"}},
		{"then nothing brings it", sign("open"), nil},
		{"it comes back", func() { h.Enter("Shop tea") }, []string{"changed 0", "sees ADDED"}},
		{"a restart: what exists is listed, and nothing has changed", func() { h.Restart() }, []string{"listed 0", "sees ADDED"}},
		{"it is deleted", func() { h.Delete("Shop tea") }, []string{"deleted 0", "forgets", "sees DELETED"}},
	} {
		row.do()
		h.RunUntilSettled()
		taken := p.taken()
		if h.Real() && h.Get("Shop tea") == nil { // the watches of two kinds have no common order: the sign may go first
			taken = slices.DeleteFunc(taken, func(call string) bool { return call == "child 0" })
		}
		assert.Equal(t, row.want, taken, row.reason)
		if h.Get("Shop tea") != nil {
			h.Exists("ConfigMap tea-sign")
		}
	}
	h.Gone("Shop tea", "ConfigMap tea-sign")
}

// TestNamespaceLeaves runs a style on a cluster whose scope its namespace leaves, and enters again.
func TestNamespaceLeaves(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.CRDs("testdata/crds"))
	ctx, cancel := context.WithCancel(t.Context())
	selector := labels.SelectorFromSet(labels.Set{"scope": env.Namespace})
	c, err := cluster.New(ctx, env.Admin, cluster.NamespaceSelector(selector), cluster.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		c.Wait()
	})
	ours := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: env.Namespace}
	scope := func(value string) {
		patch := deploy.PatchRequest{Type: types.MergePatchType, FieldManager: "admin", Body: []byte(`{"metadata":{"labels":{"scope":` + value + `}}}`)}
		_, err := c.Port().Patch(ctx, ours, patch)
		require.NoError(t, err)
	}
	var p *painter
	scope(`"` + env.Namespace + `"`)
	h := reconciletest.Drive(t, watch.NewController(shops, func(_ context.Context, given watch.Env) (watch.Reconciler, error) {
		p = &painter{env: given, orders: make(chan deploy.Ref), fails: &[]func() error{}}
		return p, nil
	}), reconciletest.On(c, 0), reconciletest.Namespace(env.Namespace))
	// The harness doesn't know that the view is about to change, so it may settle before that.
	settles := func(want ...string) {
		var taken []string
		for start := time.Now(); len(taken) < len(want) && time.Since(start) < time.Minute; {
			h.RunUntilSettled()
			taken = append(taken, p.taken()...)
		}
		assert.Equal(t, want, taken)
	}
	h.Apply(tea)
	settles("changed 0", "sees ADDED")
	scope("null")
	settles("forgets", "sees LEFT")
	scope(`"` + env.Namespace + `"`)
	settles("changed 0", "sees ADDED")
}
