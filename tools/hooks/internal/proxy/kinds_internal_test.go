package proxy

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
)

// discovery is what an API server serves, with the number of times that somebody has asked.
type discovery struct {
	served []deploy.ServedKind
	failed error
	asked  int
}

func (d *discovery) kinds() *kinds {
	return &kinds{asking: make(chan struct{}, 1), discover: func(context.Context) ([]deploy.ServedKind, error) {
		d.asked++
		time.Sleep(time.Millisecond) // others come meanwhile
		return d.served, d.failed
	}}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	configMap := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	cats := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "cats"}
	both := []deploy.ServedKind{{Kind: configMap, Resource: "configmaps"}, {Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cat"}, Resource: "cats"}}
	t.Run("hooks 44: kinds are discovered once for many writes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &discovery{served: both}
			k := d.kinds()
			var writes sync.WaitGroup
			for range 20 {
				writes.Go(func() {
					kind, ok, err := k.of(t.Context(), configMaps)
					assert.NoError(t, err)
					assert.True(t, ok)
					assert.Equal(t, configMap, kind)
				})
			}
			writes.Wait()
			assert.Equal(t, 1, d.asked)
			time.Sleep(kindsLast)
			_, _, _ = k.of(t.Context(), configMaps)
			assert.Equal(t, 2, d.asked, "and again after a while, as definitions may change")
		})
	})
	t.Run("hooks 44: a resource that isn't served costs one discovery for many writes, and is found when it comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &discovery{served: both[:1]}
			k := d.kinds()
			for range 20 {
				_, ok, err := k.of(t.Context(), cats)
				require.NoError(t, err)
				assert.False(t, ok)
			}
			assert.Equal(t, 1, d.asked)
			d.served = both
			time.Sleep(unknownLasts)
			kind, ok, err := k.of(t.Context(), cats)
			require.NoError(t, err)
			assert.True(t, ok)
			assert.Equal(t, "Cat", kind.Kind)
			assert.Equal(t, 2, d.asked)
		})
	})
	t.Run("hooks 44: a group that doesn't respond holds up its own kinds only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &discovery{served: both[:1], failed: errors.New("example.com doesn't respond")}
			k := d.kinds()
			_, ok, err := k.of(t.Context(), configMaps)
			require.NoError(t, err)
			assert.True(t, ok)
			for range 3 {
				_, _, err = k.of(t.Context(), cats)
				assert.ErrorIs(t, err, d.failed, "whether it is served isn't known")
			}
			assert.Equal(t, 1, d.asked)
			d.served, d.failed = both, nil
			time.Sleep(unknownLasts)
			_, ok, err = k.of(t.Context(), cats)
			require.NoError(t, err)
			assert.True(t, ok)
		})
	})
	t.Run("hooks 44: the end of a caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		k := (&discovery{}).kinds()
		k.asking <- struct{}{}
		_, _, err := k.of(ctx, cats)
		assert.ErrorIs(t, err, context.Canceled)
	})
}
