package leader

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errDown is what a cluster that isn't there answers.
var errDown = errors.New("connection refused")

// errUnserved is what a View answers when the objects' kind has gone.
var errUnserved = &deploy.KindUnknownError{Kind: shopKey.Kind}

// wire is the connection of one replica: it counts the calls and breaks as a test wants.
type wire struct {
	deploy.Port
	mu    sync.Mutex
	calls []string
	// before may answer a call instead of the cluster, after instead of the cluster's answer.
	before, after func(ctx context.Context, verb string) error
	// skew is by how much the clock of this replica is wrong.
	skew time.Duration
}

func (w *wire) set(before, after func(context.Context, string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after = before, after
}

func (w *wire) call(ctx context.Context, verb string, do func() (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	w.mu.Lock()
	before, after := w.before, w.after
	w.calls = append(w.calls, verb)
	w.mu.Unlock()
	if before != nil {
		if err := before(ctx, verb); err != nil {
			return nil, err
		}
	}
	obj, err := do()
	if after != nil {
		if failed := after(ctx, verb); failed != nil {
			return nil, failed
		}
	}
	return obj, err
}

// sent returns the calls since the last time.
func (w *wire) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *wire) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	return w.call(ctx, "get", func() (*unstructured.Unstructured, error) { return w.Port.Get(ctx, ref) })
}

func (w *wire) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	return w.call(ctx, "create", func() (*unstructured.Unstructured, error) { return w.Port.Create(ctx, w.skewed(obj), options) })
}

func (w *wire) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	return w.call(ctx, "update", func() (*unstructured.Unstructured, error) { return w.Port.Update(ctx, w.skewed(obj), options) })
}

func (w *wire) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	return w.call(ctx, "patch", func() (*unstructured.Unstructured, error) { return w.Port.Patch(ctx, ref, patch) })
}

func (w *wire) skewed(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	if spec, ok := obj.Object["spec"].(map[string]any); ok && w.skew != 0 {
		spec["renewTime"] = microTime(time.Now().Add(w.skew))
	}
	return obj
}

// pause waits.
func pause(ctx context.Context, d time.Duration) bool { return trigger.Sleep(ctx, d) }

// down answers nothing but an error.
func down(context.Context, string) error { return errDown }

// silent never answers.
func silent(ctx context.Context, _ string) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func newCluster(t *testing.T, objects ...*unstructured.Unstructured) *dryrun.Cluster {
	t.Helper()
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(objects...))
	require.NoError(t, err)
	return cluster
}

// replica is one process of an operator.
type replica struct {
	*Elector
	wire *wire
	log  *testlog.Text
	stop context.CancelFunc
	// began is closed when the work has begun, returned has what Run returned.
	began    chan struct{}
	returned chan error
	// windup is how long the work takes to end.
	windup time.Duration

	mu           sync.Mutex
	since, until time.Time
	lost         error
	term         Term
}

func newReplica(t *testing.T, cluster deploy.Cluster, name string, opts ...Option) *replica {
	t.Helper()
	r := &replica{wire: &wire{Port: cluster.Port()}, log: &testlog.Text{}, began: make(chan struct{}), returned: make(chan error, 1)}
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "identity" || a.Key == "lock" {
			return slog.Attr{}
		}
		return a
	}}))
	elector, err := Lease(r.wire, "shop/op", append([]Option{Identity(name), Logger(logger)}, opts...)...)
	require.NoError(t, err)
	r.Elector = elector
	return r
}

// start runs the replica until its stop is called.
func (r *replica) start(t *testing.T) *replica {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.returned <- r.Run(ctx, r.work) }()
	return r
}

func (r *replica) work(ctx context.Context) error {
	r.mu.Lock()
	r.since = time.Now()
	r.term, _ = TermOf(ctx)
	r.mu.Unlock()
	close(r.began)
	<-ctx.Done()
	r.mu.Lock()
	r.until, r.lost = time.Now(), context.Cause(ctx)
	r.mu.Unlock()
	time.Sleep(r.windup)
	return context.Cause(ctx)
}

// lines are what was logged, with what differs from run to run left out.
func (r *replica) lines() []string {
	return strings.Split(strings.TrimSpace(r.log.String()), "\n")
}

var leaseRef = deploy.Ref{Kind: leaseKind, Namespace: "shop", Name: "op"}

func specOf(t *testing.T, cluster deploy.Cluster) record {
	t.Helper()
	obj, err := cluster.Port().Get(context.WithoutCancel(t.Context()), leaseRef)
	require.NoError(t, err)
	return recordOf(obj)
}

// leaseOf is a Lease as another implementation may have written it.
func leaseOf(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": "op", "namespace": "shop", "labels": map[string]any{"team": "blue"}}, "spec": spec,
	}}
}

// leadsAfter tells when r begins to work, from now on.
func leadsAfter(t *testing.T, r *replica) time.Duration {
	t.Helper()
	start := time.Now()
	<-r.began
	return time.Since(start)
}

// ends stops r and returns what Run does.
func ends(r *replica) error {
	r.stop()
	return <-r.returned
}

// within fails unless least <= d <= most.
func within(t *testing.T, d, least, most time.Duration, reason string) {
	t.Helper()
	assert.GreaterOrEqual(t, d, least, reason)
	assert.LessOrEqual(t, d, most, reason)
}

// steal makes holder the holder, as no candidate may.
func steal(t *testing.T, cluster deploy.Cluster, holder string) {
	t.Helper()
	obj, err := cluster.Port().Get(t.Context(), leaseRef)
	require.NoError(t, err)
	r := recordOf(obj)
	r.holder = holder
	r.into(obj)
	_, err = cluster.Port().Update(t.Context(), obj, deploy.UpdateOptions{FieldManager: "test"})
	require.NoError(t, err)
}
