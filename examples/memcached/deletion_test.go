package main

import (
	"testing"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The Deployment goes by its owner reference, its Pods by theirs: the operator has nothing to do, so it needn't even run.
func TestDeletion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		runs   bool
	}{
		{"the operator runs", true},
		{"the operator is gone", false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			w, p := settledWorld(t)
			if !row.runs {
				assert.NoError(t, p.stop(t))
			}
			mark := w.Mark(t)
			w.delete(v1.MemcachedKind, "hello")
			w.eventually("the resource is gone", func() bool { return w.get(v1.MemcachedKind, "hello") == nil })
			w.eventually("the Deployment is gone", func() bool { return w.get(deployments, "hello") == nil })
			w.eventually("its Pods are gone", func() bool {
				pods, err := w.api.View().List(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, w.Namespace, nil)
				return assert.NoError(t, err) && len(pods) == 0
			})
			assert.Empty(t, w.CallsSince(t, mark, w.operator).Writes())
		})
	}
}
