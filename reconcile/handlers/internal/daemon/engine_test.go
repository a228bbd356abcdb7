package daemon_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers/internal/daemon"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	widgets = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	lease   = deploy.Ref{Kind: schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, Namespace: "shop", Name: "op"}
)

// operated is an operator with one daemon for each Widget, under an election and an engine.
type operated struct {
	t *testing.T
	*daemon.Keeper[unstructured.Unstructured]
	cluster *dryrun.Cluster
	engine  *watch.Engine
	exit    context.CancelFunc
	// ended has what the election returned.
	ended chan error
	// late is how long each daemon goes on after its stop.
	late time.Duration

	mu     sync.Mutex
	causes map[error]int
	passes int
}

// Sources implements source.Provider.
func (o *operated) Sources() source.Sources { return source.Sources{External: []source.External{o}} }

// Reconcile makes the pass.
func (o *operated) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	obj, err := o.cluster.View().Get(ctx, req.Key)
	o.mu.Lock()
	o.passes++
	o.mu.Unlock()
	switch {
	case err != nil:
		return request.Result{}, err
	case obj == nil:
		o.Forget(req.Key)
		return request.Result{}, nil
	}
	o.Keep(req.Key, obj.GetUID(), obj, []daemon.Spec[unstructured.Unstructured]{{ID: "measure", Grace: time.Hour, Run: o.measure}})
	return request.Result{}, nil
}

func (o *operated) measure(ctx context.Context, _ daemon.Handle[unstructured.Unstructured]) error {
	<-ctx.Done()
	time.Sleep(o.late)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.causes[context.Cause(ctx)]++
	return ctx.Err()
}

// operate starts an operator for a number of Widgets, and waits until all their daemons run.
func operate(t *testing.T, widgetCount int, late, grace time.Duration) *operated {
	t.Helper()
	var objects []*unstructured.Unstructured
	for i := range widgetCount {
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetGroupVersionKind(widgets)
		obj.SetNamespace("shop")
		obj.SetName(fmt.Sprint("w", i))
		objects = append(objects, obj)
	}
	cluster, err := dryrun.New(dryrun.Schemaless(), dryrun.Namespaces("*"), dryrun.Objects(objects...))
	require.NoError(t, err)
	o := &operated{t: t, cluster: cluster, late: late, causes: map[error]int{}, ended: make(chan error, 1)}
	o.Keeper = daemon.New(func(daemon.Report[unstructured.Unstructured]) {})
	quiet := slog.New(slog.DiscardHandler)
	o.engine, err = watch.New(cluster.View(), watch.Logger(quiet), watch.Grace(grace))
	require.NoError(t, err)
	require.NoError(t, o.engine.Control(widgets, o))
	elector, err := leader.Lease(cluster.Port(), "shop/op", leader.Logger(quiet), leader.Identity("us"))
	require.NoError(t, err)
	var ctx context.Context
	ctx, o.exit = context.WithCancel(context.Background())
	go func() { o.ended <- elector.Run(ctx, o.engine.Run) }()
	synctest.Wait()
	require.Equal(t, daemon.Count{Running: widgetCount}, o.Count())
	return o
}

// holder returns who holds the lease.
func (o *operated) holder() string {
	obj, err := o.cluster.Port().Get(context.Background(), lease)
	require.NoError(o.t, err)
	holder, _, err := unstructured.NestedString(obj.Object, "spec", "holderIdentity")
	require.NoError(o.t, err)
	return holder
}

// steal lets another replica take the lease by force.
func (o *operated) steal() {
	obj, err := o.cluster.Port().Get(context.Background(), lease)
	require.NoError(o.t, err)
	require.NoError(o.t, unstructured.SetNestedField(obj.Object, "other", "spec", "holderIdentity"))
	_, err = o.cluster.Port().Update(context.Background(), obj, deploy.UpdateOptions{FieldManager: "other"})
	require.NoError(o.t, err)
}

// The daemons of an operator under its engine and its election.
func TestUnderAnEngine(t *testing.T) {
	t.Parallel()
	const count = 1000
	for _, row := range []struct {
		reason      string
		late, grace time.Duration
		end         func(o *operated)
		// want is how long the end takes at most, err and holder are what is left.
		want   time.Duration
		err    error
		holder string
		cause  daemon.Stop
	}{
		{"handlers 57: they end with the operator, and then the lease is released", 2 * time.Second, 20 * time.Second,
			func(o *operated) { o.exit() }, 2 * time.Second, nil, "", daemon.Exiting},
		{"handlers 57: one that hangs keeps the lease not longer than the grace of the engine", time.Hour, 20 * time.Second,
			func(o *operated) { o.exit() }, 20 * time.Second, nil, "", daemon.Exiting},
		{"handlers 58: a loss of the lease ends them at once", 0, 20 * time.Second,
			(*operated).steal, 2500 * time.Millisecond, leader.ErrLost, "other", daemon.Lost},
		{"handlers 58: one that hangs then is left behind after five seconds", time.Hour, 20 * time.Second,
			(*operated).steal, 7500 * time.Millisecond, leader.ErrLost, "other", daemon.Lost},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := operate(t, count, row.late, row.grace)
				began := time.Now()
				row.end(o)
				assert.ErrorIs(t, <-o.ended, row.err)
				assert.LessOrEqual(t, time.Since(began), row.want)
				assert.Equal(t, row.holder, o.holder())
				time.Sleep(2 * time.Hour)
				assert.Zero(t, o.Count())
				assert.Equal(t, map[error]int{row.cause: count}, o.causes)
				o.exit()
				o.cluster.Wait()
			})
		})
	}
	t.Run("handlers 57: a kind that is released ends them, and the others go on", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := operate(t, count, time.Second, 20*time.Second)
			began := time.Now()
			require.NoError(t, o.engine.Release(t.Context(), widgets))
			assert.Equal(t, time.Second, time.Since(began))
			assert.Equal(t, map[error]int{daemon.Released: count}, o.causes)
			require.NoError(t, o.engine.Control(widgets, o))
			synctest.Wait()
			assert.Equal(t, daemon.Count{Running: count}, o.Count(), "until it is reconciled again")
			o.exit()
			require.NoError(t, <-o.ended)
			o.cluster.Wait()
		})
	})
	t.Run("handlers 50: a process that begins runs them with the first passes", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := operate(t, count, 0, 20*time.Second)
			assert.LessOrEqual(t, o.passes, 2*count, "one more at most for those that came before the source ran")
			o.exit()
			require.NoError(t, <-o.ended)
			o.cluster.Wait()
		})
	})
}
