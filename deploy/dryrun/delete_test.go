package dryrun_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	ref := deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}

	t.Run("deploy 32: without finalizers it is gone at once", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		obj := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		events := record(t, cluster, configMap)
		require.NoError(t, cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{UID: obj.GetUID()}))
		assert.Nil(t, get(t, cluster, ref))
		assert.Equal(t, []string{"ADDED settings 1", "DELETED settings 2"}, events.wait(t, 2))
		again := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.NotEqual(t, obj.GetUID(), again.GetUID(), "a successor is another object")
	})
	t.Run("deploy 32: an absent object is not found", func(t *testing.T) {
		t.Parallel()
		err := newCluster(t).Port().Delete(t.Context(), ref, deploy.DeleteOptions{})
		var absent *deploy.NotFoundError
		require.ErrorAs(t, err, &absent)
	})
	t.Run("deploy W14: another uid is left alone", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		before := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		err := cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{UID: "other"})
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		assert.Equal(t, before, get(t, cluster, ref))
	})
	t.Run("a propagation that is none is refused", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		err := cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{Propagation: "Upwards"})
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.NoError(t, cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{Propagation: metav1.DeletePropagationBackground}))
	})
}

func TestFinalizers(t *testing.T) {
	t.Parallel()
	clock := newClock()
	held := settings(t, "{a: '1'}")
	held.SetFinalizers([]string{"shop/one", "shop/two"})
	cluster := newCluster(t, dryrun.Objects(held), dryrun.Clock(clock.Now))
	ref := deploy.RefOf(held)
	events := record(t, cluster, configMap)
	deleted := clock.now
	require.NoError(t, cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{}))

	t.Run("deploy W20: a held object is marked, which is a modification", func(t *testing.T) {
		obj := get(t, cluster, ref)
		require.NotNil(t, obj.GetDeletionTimestamp())
		assert.True(t, deleted.Equal(obj.GetDeletionTimestamp().Time))
		assert.EqualValues(t, 0, *obj.GetDeletionGracePeriodSeconds())
		assert.Zero(t, obj.GetGeneration(), "where there is none it doesn't rise")
		assert.Equal(t, []string{"ADDED settings 1", "MODIFIED settings 2"}, events.wait(t, 2))
	})
	t.Run("deploy W20: a second delete changes nothing", func(t *testing.T) {
		clock.now = clock.now.Add(time.Hour)
		before := get(t, cluster, ref)
		require.NoError(t, cluster.Port().Delete(t.Context(), ref, deploy.DeleteOptions{}))
		assert.Equal(t, before, get(t, cluster, ref))
	})
	t.Run("deploy W20: the deletionTimestamp can't be taken back or changed", func(t *testing.T) {
		for _, body := range []string{
			`{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null},"data":{"b":"1"}}`,
			`{"metadata":{"deletionTimestamp":"2040-01-01T00:00:00Z"},"data":{"b":"2"}}`,
		} {
			obj := merge(t, cluster, ref, "kubectl", body)
			require.NotNil(t, obj.GetDeletionTimestamp())
			assert.True(t, deleted.Equal(obj.GetDeletionTimestamp().Time))
		}
		obj := force(t, cluster, "operkit", settings(t, "{a: '1'}"))
		assert.NotNil(t, obj.GetDeletionTimestamp(), "an apply doesn't save it either")
	})
	t.Run("no finalizer is added any more", func(t *testing.T) {
		_, err := cluster.Port().Patch(t.Context(), ref, deploy.PatchRequest{
			Type: types.MergePatchType, Body: []byte(`{"metadata":{"finalizers":["shop/one","shop/two","shop/three"]}}`),
		})
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid)
	})
	t.Run("deploy W20: it goes with its last finalizer", func(t *testing.T) {
		merge(t, cluster, ref, "one", `{"metadata":{"finalizers":["shop/two"]}}`)
		require.NotNil(t, get(t, cluster, ref))
		last := merge(t, cluster, ref, "two", `{"metadata":{"finalizers":[]}}`)
		assert.NotNil(t, last.GetDeletionTimestamp())
		assert.Nil(t, get(t, cluster, ref))
		assert.Equal(t, "DELETED settings 7", events.wait(t, 7)[6])
	})
}

func TestGarbageCollection(t *testing.T) {
	t.Parallel()
	child := func(name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
		obj := settings(t, "{}")
		obj.SetName(name)
		var references []metav1.OwnerReference
		for _, owner := range owners {
			references = append(references, metav1.OwnerReference{
				APIVersion: "v1", Kind: "ConfigMap", Name: owner.GetName(), UID: owner.GetUID(),
			})
		}
		obj.SetOwnerReferences(references)
		return obj
	}
	names := func(cluster *dryrun.Cluster) (names []string) {
		for _, obj := range cluster.Objects() {
			names = append(names, obj.GetName())
		}
		return names
	}
	remove := func(t *testing.T, cluster *dryrun.Cluster, obj *unstructured.Unstructured) {
		t.Helper()
		require.NoError(t, cluster.Port().Delete(t.Context(), deploy.RefOf(obj), deploy.DeleteOptions{}))
	}

	t.Run("deploy W24: what an object owns goes with it, and so on", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		root := apply(t, cluster, "operkit", child("root"))
		middle := apply(t, cluster, "operkit", child("middle", root))
		apply(t, cluster, "operkit", child("leaf", middle))
		apply(t, cluster, "operkit", child("bystander"))
		events := record(t, cluster, configMap)
		remove(t, cluster, root)
		assert.Equal(t, []string{"bystander"}, names(cluster))
		assert.Equal(t, []string{"DELETED root 5", "DELETED middle 6", "DELETED leaf 7"}, events.wait(t, 7)[4:])
	})
	t.Run("deploy W24: an object with another owner stays and loses the reference", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		one, two := apply(t, cluster, "operkit", child("one")), apply(t, cluster, "operkit", child("two"))
		shared := apply(t, cluster, "operkit", child("shared", one, two))
		remove(t, cluster, one)
		obj := get(t, cluster, deploy.RefOf(shared))
		require.Len(t, obj.GetOwnerReferences(), 1)
		assert.Equal(t, two.GetUID(), obj.GetOwnerReferences()[0].UID)
		assert.NotContains(t, owned(obj, "operkit", "Apply", ""), one.GetUID())
		remove(t, cluster, two)
		assert.Empty(t, names(cluster))
	})
	t.Run("an owner that is held keeps what it owns", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		manifest := child("root")
		manifest.SetFinalizers([]string{"shop/hold"})
		root := apply(t, cluster, "operkit", manifest)
		apply(t, cluster, "operkit", child("leaf", root))
		remove(t, cluster, root)
		assert.Equal(t, []string{"root", "leaf"}, names(cluster))
		merge(t, cluster, deploy.RefOf(root), "operkit", `{"metadata":{"finalizers":null}}`)
		assert.Empty(t, names(cluster))
	})
	t.Run("an object that is held waits for its own finalizers", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		root := apply(t, cluster, "operkit", child("root"))
		manifest := child("leaf", root)
		manifest.SetFinalizers([]string{"shop/hold"})
		leaf := apply(t, cluster, "operkit", manifest)
		remove(t, cluster, root)
		obj := get(t, cluster, deploy.RefOf(leaf))
		require.NotNil(t, obj)
		assert.NotNil(t, obj.GetDeletionTimestamp())
	})
	t.Run("what comes after its owner's end goes at once", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		root := apply(t, cluster, "operkit", child("root"))
		remove(t, cluster, root)
		applied, err := cluster.Port().Apply(t.Context(), child("leaf", root), deploy.ApplyOptions{FieldManager: "operkit"})
		require.NoError(t, err)
		assert.True(t, applied.Created)
		assert.Empty(t, names(cluster))
	})
	t.Run("an owner that never was is left alone", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		elsewhere := child("elsewhere")
		elsewhere.SetUID("elsewhere")
		apply(t, cluster, "operkit", child("leaf", elsewhere))
		assert.Equal(t, []string{"leaf"}, names(cluster))
	})
}
