package watch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// feed is a View of nothing, whose events a benchmark makes.
type feed struct {
	deploy.View
	handle chan func(deploy.Event)
}

func (f *feed) Subscribe(_ context.Context, _ schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	f.handle <- handle
	return f, nil
}

func (f *feed) Synced(context.Context) error { return nil }

// counter reconciles by counting.
type counter struct{ reconciles atomic.Int64 }

func (c *counter) Reconcile(context.Context, request.Request) (request.Result, error) {
	c.reconciles.Add(1)
	return request.Result{}, nil
}

// BenchmarkEvents is what one event costs, among many objects, with the reconciles that the events bring.
func BenchmarkEvents(b *testing.B) {
	const objects = 10_000
	view, reconciler := &feed{handle: make(chan func(deploy.Event), 1)}, &counter{}
	engine, err := New(view, Workers(4), Logger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	require.NoError(b, err)
	require.NoError(b, engine.Control(widgets, reconciler))
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx) }()
	handle := <-view.handle
	var versions [objects][2]*unstructured.Unstructured
	for i := range versions {
		for generation := range 2 {
			obj := widget(fmt.Sprint("w", i))
			obj.SetUID(types.UID(obj.GetName()))
			obj.SetGeneration(int64(generation + 1))
			obj.SetResourceVersion(fmt.Sprint(generation + 1))
			versions[i][generation] = obj
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		of := versions[n%objects]
		handle(deploy.Event{Type: deploy.Modified, Old: of[n/objects%2], New: of[1-n/objects%2]})
		n++
	}
	for engine.queue.Len() > 0 {
		runtime.Gosched()
	}
	b.ReportMetric(float64(reconciler.reconciles.Load())/float64(n), "reconciles/event")
	stop()
	require.NoError(b, <-ended)
}
