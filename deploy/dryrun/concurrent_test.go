package dryrun_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const writers, rounds = 16, 20
	cluster, other := newCluster(t), newCluster(t)
	early := record(t, cluster, configMap)
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for round := range rounds {
				obj := settings(t, fmt.Sprintf("{w%d: '%d'}", w, round))
				applied, err := cluster.Port().Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: fmt.Sprintf("w%d", w)})
				if !assert.NoError(t, err) {
					return
				}
				_, err = cluster.View().List(t.Context(), configMap, "", nil)
				assert.NoError(t, err)
				applied.Object.Object["data"] = nil
			}
		})
	}
	late := record(t, cluster, configMap)
	running.Wait()

	obj := get(t, cluster, deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"})
	assert.Len(t, data(obj), writers)
	assert.Len(t, obj.GetManagedFields(), writers)
	assert.Equal(t, strconv.Itoa(writers*rounds), obj.GetResourceVersion(), "no write was lost")
	lines := early.wait(t, writers*rounds)
	for i, line := range lines {
		assert.Contains(t, line, " "+strconv.Itoa(i+1), "deploy W25: events come in version order")
	}
	require.NotEmpty(t, late.all())
	start, err := strconv.Atoi(late.all()[0].New.GetResourceVersion())
	require.NoError(t, err)
	lines = late.wait(t, writers*rounds-start+1)
	for i, line := range lines {
		assert.Contains(t, line, " "+strconv.Itoa(start+i), "deploy W23: nothing is lost between list and watch")
	}
	assert.Empty(t, other.Objects(), "deploy W25: clusters share nothing")
}

func TestOneWriterWins(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	obj := apply(t, cluster, "operkit", settings(t, "{}"))
	var running sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 10 {
		running.Go(func() {
			_, err := cluster.Port().Patch(t.Context(), deploy.RefOf(obj), deploy.PatchRequest{
				Type: types.MergePatchType, FieldManager: "m",
				Body: []byte(`{"metadata":{"resourceVersion":"` + obj.GetResourceVersion() + `"},"data":{"a":"1"}}`),
			})
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				won++
			}
		})
	}
	running.Wait()
	assert.Equal(t, 1, won, "deploy W18: a resourceVersion is good for one write")
}

// Definitions, faults, recordings and watches come and go while others write.
func TestConcurrentChangesOfTheCluster(t *testing.T) {
	t.Parallel()
	cluster := declaring(t)
	definition := deploy.RefOf(object(t, shelves))
	var running sync.WaitGroup
	for w := range 8 {
		running.Go(func() {
			for range 10 {
				switch w % 4 {
				case 0:
					_, _ = cluster.Port().Apply(t.Context(), shelf(t, "{color: red}"), deploy.ApplyOptions{FieldManager: "m", Force: true})
				case 1:
					_ = cluster.Port().Delete(t.Context(), definition, deploy.DeleteOptions{})
					_, err := cluster.Port().Apply(t.Context(), object(t, shelves), deploy.ApplyOptions{FieldManager: "m", Force: true})
					assert.NoError(t, err)
				case 2:
					recording := cluster.Record()
					assert.NoError(t, cluster.Fail(dryrun.Fault{Verb: dryrun.VerbGet, Count: 1, Code: 500}))
					_, _ = cluster.Port().Get(t.Context(), definition)
					recording.Stop()
				case 3:
					ctx, cancel := context.WithCancel(t.Context())
					_, _ = cluster.Watch(ctx, shelfKind, dryrun.WatchOptions{Namespace: "shop"}, func(deploy.Event) {})
					_, _ = cluster.View().List(t.Context(), shelfKind, "", nil)
					_, err := requests(cluster).Kinds(t.Context(), "shelves")
					assert.NoError(t, err)
					cancel()
				}
			}
		})
	}
	running.Wait()
	cluster.Wait()
	_, err := cluster.Port().Scope(t.Context(), shelfKind)
	require.NoError(t, err)
}
