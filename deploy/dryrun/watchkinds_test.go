package dryrun_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func TestWatchKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := dryrun.New()
		require.NoError(t, err)
		defer c.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		kinds := c.View().(deploy.KindView)
		var all []deploy.ServedKind
		calls := 0
		go kinds.WatchKinds(ctx, func(kinds []deploy.ServedKind) { all, calls = kinds, calls+1 })
		shelf := schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Shelf"}
		find := func(kind schema.GroupVersionKind) *deploy.ServedKind {
			synctest.Wait()
			at := slices.IndexFunc(all, func(k deploy.ServedKind) bool { return k.Kind == kind })
			if at < 0 {
				return nil
			}
			return &all[at]
		}
		pod := find(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
		require.NotNil(t, pod, "the built-in kinds are there")
		assert.True(t, pod.Preferred)
		assert.Equal(t, "pods", pod.Resource)
		assert.Equal(t, []string{"pod", "po"}, pod.Names)
		assert.Nil(t, find(shelf))
		served := make(chan error, 1)
		go func() { served <- kinds.Served(ctx, shelf) }()
		synctest.Wait()
		assert.Empty(t, served)

		definition := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(shelves), &definition.Object))
		require.NoError(t, unstructured.SetNestedStringSlice(definition.Object, []string{"furniture"}, "spec", "names", "categories"))
		_, err = c.Port().Apply(t.Context(), definition, deploy.ApplyOptions{FieldManager: "m"})
		require.NoError(t, err)
		require.NoError(t, <-served, "one that comes")
		assert.Equal(t, &deploy.ServedKind{
			Kind: shelf, Preferred: true, Resource: "shelves", Names: []string{"shelf", "sh"}, Categories: []string{"furniture"},
			Verbs: pod.Verbs, Scope: deploy.Namespaced,
		}, find(shelf))
		require.NoError(t, c.Port().Delete(t.Context(), deploy.RefOf(definition), deploy.DeleteOptions{}))
		assert.Nil(t, find(shelf), "one that goes")
		settings := &unstructured.Unstructured{}
		settings.SetGroupVersionKind(configMap)
		settings.SetName("a")
		settings.SetNamespace("default")
		before := calls
		_, err = c.Port().Apply(t.Context(), settings, deploy.ApplyOptions{FieldManager: "m"})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, before, calls, "objects are no kinds")
		cancel()
		assert.ErrorIs(t, kinds.Served(ctx, shelf), context.Canceled)
	})
}
