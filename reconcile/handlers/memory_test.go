package handlers_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// BenchmarkMemory reports what handlers remember of each settled object, without the object itself. doc.go has the
// figure.
func BenchmarkMemory(b *testing.B) {
	const objects = 10_000
	ctx := b.Context()
	var all []*unstructured.Unstructured
	for i := range objects {
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(i)}}}
		obj.SetGroupVersionKind(claims)
		obj.SetNamespace("default")
		obj.SetName(fmt.Sprintf("claim-%d", i))
		all = append(all, obj)
	}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(all...))
	require.NoError(b, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(b, err)
	pass := func() watch.Reconciler {
		h := handlers.New[Claim](claims)
		nothing := func(context.Context, *handlers.Request[Claim]) error { return nil }
		h.On(handlers.Create|handlers.Resume, "create", nothing)
		h.On(handlers.Delete, "delete", nothing)
		reconciler, err := h.Reconciler(ctx, watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
		require.NoError(b, err)
		for _, obj := range all {
			_, err := reconciler.Reconcile(ctx, request.Request{Key: deploy.RefOf(obj)})
			require.NoError(b, err)
		}
		return reconciler
	}
	pass() // the records
	for b.Loop() {
		before := heapInUse()
		reconciler := pass()
		b.ReportMetric(float64(heapInUse()-before)/objects, "bytes/object")
		runtime.KeepAlive(reconciler)
	}
	runtime.KeepAlive(manager)
}

// heapInUse returns the size of the live heap. The second collection frees what pools have kept during the first one.
func heapInUse() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
