package leader

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

var (
	shopKey = deploy.Ref{Kind: configMapKind, Namespace: "shop", Name: "one"}
	shopRef = shopKey
)

// shop is an object to be worked on; pairs of its annotations follow.
func shop(annotations ...string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "one", "namespace": "shop"}, "data": map[string]any{"a": "b"},
	}}
	all := map[string]string{"team": "blue"}
	for i := 0; i < len(annotations); i += 2 {
		all[annotations[i]] = annotations[i+1]
	}
	obj.SetAnnotations(all)
	return obj
}

// heldBy are the annotations of another replica's lock.
func heldBy(holder, at string) []string {
	return []string{"operkit.dev/lease-name", holder, "operkit.dev/lease-time", at}
}

// worker is a replica that works on objects.
type worker struct {
	*ObjectLock
	cluster *dryrun.Cluster
	wire    *wire
	glass   *glass
	log     *testlog.Text
	// work is what the Reconciler does, with the request's context.
	work func(ctx context.Context) error

	mu    sync.Mutex
	calls int
}

// glass is what a replica sees the cluster through.
type glass struct {
	deploy.View

	mu  sync.Mutex
	get func() (*unstructured.Unstructured, error)
}

// shows has the view answer so instead.
func (g *glass) shows(get func() (*unstructured.Unstructured, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.get = get
}

func (g *glass) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	g.mu.Lock()
	get := g.get
	g.mu.Unlock()
	if get != nil {
		return get()
	}
	return g.View.Get(ctx, ref)
}

func (w *worker) Port() deploy.Port { return w.wire }
func (w *worker) View() deploy.View { return w.glass }

func newWorker(t *testing.T, cluster *dryrun.Cluster, name string, opts ...deploy.Option) *worker {
	t.Helper()
	w := &worker{cluster: cluster, wire: &wire{Port: cluster.Port()}, glass: &glass{View: cluster.View()}, log: &testlog.Text{}}
	logger := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	lock, err := PerObject(working{w}, newManager(t, w, opts...), Identity(name), Logger(logger))
	require.NoError(t, err)
	w.ObjectLock = lock
	return w
}

func newManager(t *testing.T, cluster deploy.Cluster, opts ...deploy.Option) *deploy.Manager {
	t.Helper()
	manager, err := deploy.NewManager(cluster, opts...)
	require.NoError(t, err)
	return manager
}

// working is the Reconciler of a worker.
type working struct{ worker *worker }

func (r working) Reconcile(ctx context.Context, _ request.Request) (request.Result, error) {
	w := r.worker
	w.mu.Lock()
	w.calls++
	w.mu.Unlock()
	if w.work == nil {
		return request.Result{RequeueAfter: time.Hour}, nil
	}
	return request.Result{RequeueAfter: time.Hour}, w.work(ctx)
}

// reconciles calls the Reconciler once and tells whether it worked.
func (w *worker) reconciles(t *testing.T) (bool, request.Result, error) {
	t.Helper()
	w.mu.Lock()
	before := w.calls
	w.mu.Unlock()
	result, err := w.Reconcile(logging.NewScope(t.Context()), request.Request{Key: shopKey})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls > before, result, err
}

// until tries again when the result says so, as an engine does, and tells how long it took to work.
func (w *worker) until(t *testing.T) time.Duration {
	t.Helper()
	for start := time.Now(); ; {
		worked, result, err := w.reconciles(t)
		if worked {
			return time.Since(start)
		}
		require.NoError(t, err)
		require.Positive(t, result.RequeueAfter)
		require.LessOrEqual(t, result.RequeueAfter, 2400*time.Millisecond)
		time.Sleep(result.RequeueAfter)
	}
}

func lockOf(t *testing.T, cluster deploy.Cluster) pair {
	t.Helper()
	obj, err := cluster.Port().Get(context.WithoutCancel(t.Context()), shopRef)
	require.NoError(t, err)
	return pair{obj.GetAnnotations()["operkit.dev/lease-name"], obj.GetAnnotations()["operkit.dev/lease-time"]}
}

// edit has somebody else change the object.
func edit(t *testing.T, cluster deploy.Cluster, merge string) {
	t.Helper()
	_, err := cluster.Port().Patch(context.WithoutCancel(t.Context()), shopRef, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(merge), FieldManager: "somebody"})
	require.NoError(t, err)
}

func annotate(t *testing.T, cluster deploy.Cluster, holder string) {
	t.Helper()
	value := `"` + holder + `"`
	if holder == "" {
		value = "null"
	}
	edit(t, cluster, `{"metadata":{"annotations":{"operkit.dev/lease-name":`+value+`}}}`)
}
