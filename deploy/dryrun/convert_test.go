package dryrun_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var oldBoxes, newBoxes = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Box"}, schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Box"}

// boxConversion renames spec.count of v1 to spec.replicas of v2. A box of 13 can't be read as v1.
func boxConversion() dryrun.Conversion {
	names := map[string]string{"v1": "count", "v2": "replicas"}
	return dryrun.Conversion{
		Kind: oldBoxes.GroupKind(), Versions: []string{"v1", "v2"}, Storage: "v2",
		Convert: func(object *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
			number, _, _ := unstructured.NestedInt64(object.Object, "spec", names[object.GroupVersionKind().Version])
			if number == 13 && version == "v1" {
				return nil, errors.New("13 can't be read")
			}
			other := object.DeepCopy()
			other.SetAPIVersion("example.com/" + version)
			other.SetName("a converter can't rename")
			other.Object["spec"] = map[string]any{names[version]: number}
			return other, nil
		},
	}
}

func box(kind schema.GroupVersionKind, field string, number int64) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a", "namespace": "shop"}, "spec": map[string]any{field: number}}}
	object.SetGroupVersionKind(kind)
	return object
}

func TestConversions(t *testing.T) {
	t.Parallel()
	t.Run("each version is read, listed and watched, and an object that can't be converted is an error", func(t *testing.T) {
		t.Parallel()
		cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Conversions(boxConversion()), dryrun.Objects(box(oldBoxes, "count", 2)))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var seen []any
		events := make(chan struct{}, 10)
		subscription, err := cluster.View().Subscribe(ctx, oldBoxes, func(event deploy.Event) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, event.New.Object["spec"])
			events <- struct{}{}
		})
		require.NoError(t, err)
		require.NoError(t, subscription.Synced(ctx))
		for _, number := range []int64{3, 13, 4} {
			_, err := cluster.Port().Apply(ctx, box(newBoxes, "replicas", number), deploy.ApplyOptions{FieldManager: "me", Force: true})
			require.NoError(t, err)
			old, err := cluster.View().Get(ctx, deploy.RefOf(box(oldBoxes, "count", 0)))
			list, errList := cluster.View().List(ctx, oldBoxes, "shop", nil)
			if number == 13 {
				var server *apierrors.StatusError
				require.ErrorAs(t, err, &server)
				assert.Equal(t, "conversion webhook for example.com/v2, Kind=Box failed: 13 can't be read", server.ErrStatus.Message)
				require.Error(t, errList)
				continue
			}
			require.NoError(t, errors.Join(err, errList))
			assert.Equal(t, map[string]any{"count": number}, old.Object["spec"])
			assert.Equal(t, "a", old.GetName())
			assert.Len(t, list, 1)
		}
		for range 2 { // and the one at the beginning
			<-events
		}
		<-events
		cancel()
		cluster.Wait()
		assert.Equal(t, []any{map[string]any{"count": int64(2)}, map[string]any{"count": int64(3)}, map[string]any{"count": int64(4)}}, seen)
		assert.Equal(t, "example.com/v2", cluster.Objects()[len(cluster.Objects())-1].GetAPIVersion())
	})
	t.Run("a version that the conversion doesn't know isn't served", func(t *testing.T) {
		t.Parallel()
		cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Conversions(boxConversion()))
		require.NoError(t, err)
		_, err = cluster.View().List(t.Context(), schema.GroupVersionKind{Group: "example.com", Version: "v9", Kind: "Box"}, "", nil)
		var unknown *deploy.KindUnknownError
		assert.ErrorAs(t, err, &unknown)
	})
}

func ExampleConversions() {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Conversions(boxConversion()), dryrun.Objects(box(oldBoxes, "count", 2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	newer, err := cluster.Port().Get(context.Background(), deploy.RefOf(box(newBoxes, "replicas", 0)))
	fmt.Println(newer.Object["spec"], err)
	// Output: map[replicas:2] <nil>
}
