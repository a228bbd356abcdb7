package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/shop/api/v1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The operator starts with an empty cache, and all shops are stored in the version that it doesn't use: it has to
// convert them itself, before it is ready.
func TestManyOldShops(t *testing.T) {
	t.Parallel()
	const count = 2000
	w := newWorld(t, oldDefinition(t), "--components=etcd,apiserver")
	w.createOld(count)
	w.InstallCRDs(t, definition)
	begin := time.Now()
	operator := w.start()
	for !w.ready() {
		require.Less(t, time.Since(begin), 5*time.Minute, "the operator is ready")
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d objects of the old version: ready after %.1f s and %d reviews of conversions", count, time.Since(begin).Seconds(), w.answered("convert."))
	require.Zero(t, operator.Stop(t))
}

// createOld creates shops of version 1.
func (w *world) createOld(count int) {
	names := make(chan string)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for name := range names {
				shop := &unstructured.Unstructured{Object: map[string]any{
					"metadata": map[string]any{"name": name, "namespace": w.Namespace}, "spec": map[string]any{"size": int64(0), "colour": "green"},
				}}
				shop.SetGroupVersionKind(v1.ShopKind)
				if _, err := w.api.Port().Create(w.t.Context(), shop, deploy.CreateOptions{}); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	for i := range count {
		names <- fmt.Sprintf("shop-%d", i)
	}
	close(names)
	workers.Wait()
}
