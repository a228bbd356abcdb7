package main

import (
	"testing"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The Deployment goes by its owner reference, its Pods by theirs: the operator has nothing to do, so it needn't even
// run.
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
				assert.Zero(t, p.Stop(t))
			}
			mark := w.Mark(t)
			w.Delete(v1.MemcachedKind, "hello")
			w.Eventually("the resource is gone", func() bool { return w.Get(v1.MemcachedKind, "hello") == nil })
			w.Eventually("the Deployment is gone", func() bool { return w.Get(deployments, "hello") == nil })
			w.Eventually("its Pods are gone", func() bool {
				return len(w.List(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})) == 0
			})
			assert.Empty(t, w.CallsSince(t, mark, w.operator).Writes())
		})
	}
}
