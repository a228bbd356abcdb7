package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// held is a cluster in which the deletion of root waits for leaf, whose finalizer holds it, unless leaf doesn't block.
func held(t testing.TB, block bool) (cluster *dryrun.Cluster, root, leaf *unstructured.Unstructured) {
	t.Helper()
	cluster = newCluster(t)
	root = apply(t, cluster, "m", ownedBy(t, "root", true))
	leaf = ownedBy(t, "leaf", block, root)
	leaf.SetFinalizers([]string{"shop/hold"})
	apply(t, cluster, "m", leaf)
	how := deploy.DeleteOptions{Propagation: metav1.DeletePropagationForeground}
	require.NoError(t, cluster.Port().Delete(t.Context(), deploy.RefOf(root), how))
	return cluster, root, leaf
}

// ownedBy is a ConfigMap with owners; those that block do so.
func ownedBy(t testing.TB, name string, block bool, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	obj := settings(t, "{}")
	obj.SetName(name)
	var references []metav1.OwnerReference
	for _, owner := range owners {
		references = append(references, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: &block,
		})
	}
	obj.SetOwnerReferences(references)
	return obj
}

func TestPropagation(t *testing.T) {
	t.Parallel()
	remove := func(t *testing.T, cluster *dryrun.Cluster, obj *unstructured.Unstructured, how metav1.DeletionPropagation) {
		t.Helper()
		require.NoError(t, cluster.Port().Delete(t.Context(), deploy.RefOf(obj), deploy.DeleteOptions{Propagation: how}))
	}
	t.Run("deploy W14: in the foreground dependents go first", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		root := apply(t, cluster, "m", ownedBy(t, "root", true))
		middle := apply(t, cluster, "m", ownedBy(t, "middle", true, root))
		apply(t, cluster, "m", ownedBy(t, "leaf", true, middle))
		events := record(t, cluster, configMap)
		remove(t, cluster, root, metav1.DeletePropagationForeground)
		assert.Empty(t, cluster.Objects())
		assert.Equal(t, []string{
			"MODIFIED root 4", "MODIFIED middle 5", "DELETED leaf 6", "DELETED middle 7", "DELETED root 8",
		}, events.wait(t, 8)[3:])
	})
	t.Run("a dependent that parts with its owner in its last write lets it go", func(t *testing.T) {
		t.Parallel()
		cluster, _, leaf := held(t, true)
		require.Len(t, cluster.Objects(), 2)
		merge(t, cluster, deploy.RefOf(leaf), "m", `{"metadata":{"finalizers":null,"ownerReferences":null}}`)
		assert.Empty(t, cluster.Objects())
	})
	t.Run("deploy W14: a dependent that is held holds its owner, if it blocks", func(t *testing.T) {
		t.Parallel()
		for _, block := range []bool{true, false} {
			cluster, root, leaf := held(t, block)
			obj := get(t, cluster, deploy.RefOf(root))
			if !block {
				assert.Nil(t, obj)
				continue
			}
			require.NotNil(t, obj)
			assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, obj.GetFinalizers())
			merge(t, cluster, deploy.RefOf(leaf), "m", `{"metadata":{"finalizers":null}}`)
			assert.Empty(t, cluster.Objects())
		}
	})
	t.Run("a dependent that lets go frees its owner", func(t *testing.T) {
		t.Parallel()
		cluster, _, leaf := held(t, true)
		merge(t, cluster, deploy.RefOf(leaf), "m", `{"metadata":{"ownerReferences":null}}`)
		assert.Equal(t, []string{"leaf"}, names(cluster, "ConfigMap"))
	})
	t.Run("deploy W14: a dependent with another owner only loses the reference", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		one, two := apply(t, cluster, "m", ownedBy(t, "one", true)), apply(t, cluster, "m", ownedBy(t, "two", true))
		shared := apply(t, cluster, "m", ownedBy(t, "shared", true, one, two))
		remove(t, cluster, one, metav1.DeletePropagationForeground)
		obj := get(t, cluster, deploy.RefOf(shared))
		require.Len(t, obj.GetOwnerReferences(), 1)
		assert.Equal(t, two.GetUID(), obj.GetOwnerReferences()[0].UID)
		assert.Nil(t, get(t, cluster, deploy.RefOf(one)))
	})
	t.Run("deploy W14: orphans stay and lose the reference", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		root := apply(t, cluster, "m", ownedBy(t, "root", true))
		leaf := apply(t, cluster, "m", ownedBy(t, "leaf", true, root))
		remove(t, cluster, root, metav1.DeletePropagationOrphan)
		assert.Nil(t, get(t, cluster, deploy.RefOf(root)))
		obj := get(t, cluster, deploy.RefOf(leaf))
		require.NotNil(t, obj)
		assert.Empty(t, obj.GetOwnerReferences())
		assert.NotContains(t, owned(obj, "m", "Apply", ""), "ownerReferences")
	})
	t.Run("an object that owns nothing goes at once, after it was marked", func(t *testing.T) {
		t.Parallel()
		for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
			cluster := newCluster(t)
			root := apply(t, cluster, "m", ownedBy(t, "root", true))
			events := record(t, cluster, configMap)
			remove(t, cluster, root, how)
			assert.Equal(t, []string{"ADDED root 1", "MODIFIED root 2", "DELETED root 3"}, events.wait(t, 3))
		}
	})
	t.Run("owners that own each other go in the foreground too", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		one := apply(t, cluster, "m", ownedBy(t, "one", true))
		two := apply(t, cluster, "m", ownedBy(t, "two", true, one))
		apply(t, cluster, "m", ownedBy(t, "one", true, two))
		remove(t, cluster, one, metav1.DeletePropagationBackground)
		assert.Empty(t, cluster.Objects())
	})
}

func TestCollectUnknownOwners(t *testing.T) {
	t.Parallel()
	stranger := settings(t, "{}")
	stranger.SetName("stranger")
	stranger.SetUID("stranger")
	for name, test := range map[string]struct {
		options []dryrun.Option
		want    []string
	}{
		"left alone":              {nil, []string{"leaf"}},
		"deleted, as on a server": {[]dryrun.Option{dryrun.CollectUnknownOwners()}, nil},
	} {
		t.Run("deploy W24: "+name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, test.options...)
			apply(t, cluster, "m", ownedBy(t, "leaf", true, stranger))
			assert.Equal(t, test.want, names(cluster, "ConfigMap"))
		})
	}
	t.Run("deploy W24: an owner in another namespace is none", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.CollectUnknownOwners())
		root := settings(t, "{}")
		root.SetNamespace("bank")
		root = apply(t, cluster, "m", root)
		apply(t, cluster, "m", ownedBy(t, "leaf", true, root))
		assert.Equal(t, []string{"settings"}, names(cluster, "ConfigMap"))
	})
	t.Run("a reference to an owner that is there stays", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.CollectUnknownOwners())
		root := apply(t, cluster, "m", ownedBy(t, "root", true))
		apply(t, cluster, "m", ownedBy(t, "leaf", true, root))
		assert.Equal(t, []string{"root", "leaf"}, names(cluster, "ConfigMap"))
	})
}
