package main

import (
	"maps"
	"testing"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No operator runs: what its definition refuses never reaches it.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range []struct {
		reason  string
		spec    map[string]any
		refused string
	}{
		{"none at all", map[string]any{"size": int64(0)}, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
		{"more than the limit", map[string]any{"size": int64(6)}, "spec.size: Invalid value: 6: spec.size in body should be less than or equal to 5"},
		{"no number", map[string]any{"size": "three"}, `spec.size: Invalid value: "string": spec.size in body must be of type integer`},
		{"a port for which a Pod needs rights", map[string]any{"containerPort": int64(80)}, "spec.containerPort: Invalid value: 80"},
		{"a port that there isn't", map[string]any{"containerPort": int64(65536)}, "spec.containerPort: Invalid value: 65536"},
		{"the least", map[string]any{"size": int64(1), "containerPort": int64(1024)}, ""},
		{"the most", map[string]any{"size": int64(5), "containerPort": int64(65535)}, ""},
		{"nothing said", map[string]any{}, ""},
	} {
		cache := sample(t)
		cache.Object["spec"] = row.spec
		cache.SetNamespace(w.Namespace)
		_, err := w.api.Port().Create(t.Context(), cache, deploy.CreateOptions{FieldManager: "somebody"})
		if row.refused != "" {
			assert.ErrorContains(t, err, row.refused, row.reason)
			continue
		}
		require.NoError(t, err, row.reason)
		want := map[string]any{"size": int64(1), "containerPort": int64(11211)}
		maps.Copy(want, row.spec)
		assert.Equal(t, want, w.Get(v1.MemcachedKind, "hello").Object["spec"], row.reason)
		w.Delete(v1.MemcachedKind, "hello")
	}
}
