package cluster_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A backup brings objects back under new uids: what names its owner by the old one has lost it.
func TestRestoredFromBackup(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	c := newCluster(t, env.Admin)
	volume := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
	watch(t, c, configMap, volume)
	plain := must(deploy.NewManager(c))
	owner := func(name string) *unstructured.Unstructured {
		obj, err := c.Port().Get(t.Context(), apply(t, plain, settings(t, env, name, "1")).Ref)
		require.NoError(t, err)
		return obj
	}
	managerOf := func(owner *unstructured.Unstructured) *deploy.Manager {
		return must(plain.With(deploy.OwnedBy(owner), deploy.OwnedByLabel(), deploy.FieldManager("box-operator")))
	}
	volumeNamed := func(name string) *unstructured.Unstructured {
		return object(t, "", `{apiVersion: v1, kind: PersistentVolume, metadata: {name: `+env.Namespace+name+`}, spec: {
			capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /tmp/nothing}, persistentVolumeReclaimPolicy: Retain, storageClassName: none}}`)
	}
	// restore deletes owner and brings it back with what it owned, as "kubectl create" does from what was exported.
	restore := func(t *testing.T, owner *unstructured.Unstructured, owned *unstructured.Unstructured) *unstructured.Unstructured {
		for _, obj := range []*unstructured.Unstructured{owned, owner} {
			require.NoError(t, c.Port().Delete(t.Context(), deploy.RefOf(obj), deploy.DeleteOptions{UID: obj.GetUID()}))
			eventually(t, c, deploy.RefOf(obj), func(obj *unstructured.Unstructured) bool { return obj == nil })
		}
		for _, obj := range []*unstructured.Unstructured{owned, owner} {
			again := obj.DeepCopy()
			for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "finalizers"} {
				unstructured.RemoveNestedField(again.Object, "metadata", field)
			}
			_, err := c.Port().Create(t.Context(), again, deploy.CreateOptions{FieldManager: "velero-server"})
			require.NoError(t, err)
		}
		back, err := c.Port().Get(t.Context(), deploy.RefOf(owner))
		require.NoError(t, err)
		require.NotEqual(t, owner.GetUID(), back.GetUID())
		return back
	}
	t.Run("by label: adopted, and gone with the owner", func(t *testing.T) {
		before := owner("before")
		made := apply(t, managerOf(before), volumeNamed("-one"))
		after := restore(t, before, made.Object)
		m := managerOf(after)
		result := apply(t, m, volumeNamed("-one"))
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Equal(t, string(after.GetUID()), result.Object.GetLabels()["operkit.dev/owner-uid"])
		mark := env.Mark(t)
		assert.Equal(t, deploy.Unchanged, apply(t, m, volumeNamed("-one")).Action)
		assert.Empty(t, env.CallsSince(t, mark).Writes())
		tracked, err := m.Tracked(t.Context(), []schema.GroupVersionKind{volume})
		require.NoError(t, err)
		require.Len(t, tracked, 1)
		results, err := m.Delete(t.Context(), tracked, deploy.UntilGone())
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, results[0].Action)
	})
	t.Run("by label: a living owner keeps it", func(t *testing.T) {
		one, two := owner("one"), owner("two")
		made := apply(t, managerOf(one), volumeNamed("-two"))
		results, err := managerOf(two).Apply(t.Context(), []*unstructured.Unstructured{volumeNamed("-two")})
		require.ErrorContains(t, err, "belongs to ConfigMap "+env.Namespace+"/one")
		assert.Equal(t, deploy.Conflicted, results[0].Action)
		_, err = managerOf(one).Delete(t.Context(), []*unstructured.Unstructured{made.Object})
		require.NoError(t, err)
	})
	t.Run("by label: without the right to look for the owner nothing is taken", func(t *testing.T) {
		before := owner("unseen")
		made := apply(t, managerOf(before), volumeNamed("-three"))
		after := restore(t, before, made.Object)
		volumes := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"persistentvolumes"}}
		user := env.User(t, "namespaced", envtest.EverythingInNamespace(), envtest.ClusterWide(volumes))
		scoped := newCluster(t, user.Config, cluster.Namespaces(env.Namespace))
		m := must(deploy.NewManager(scoped, deploy.OwnedBy(after), deploy.OwnedByLabel(), deploy.FieldManager("box-operator")))
		results, err := m.Apply(t.Context(), []*unstructured.Unstructured{volumeNamed("-three")})
		require.ErrorContains(t, err, "by its label operkit.dev/owner-uid already: rename our object, delete the existing one, or, if that owner is gone, remove the label")
		require.ErrorContains(t, err, "not allowed to list configmaps at cluster scope")
		require.Equal(t, deploy.Conflicted, results[0].Action)

		_, err = c.Port().Patch(t.Context(), results[0].Ref, deploy.PatchRequest{Type: types.MergePatchType, FieldManager: "kubectl-label",
			Body: []byte(`{"metadata":{"labels":{"operkit.dev/owner-uid":null}}}`)})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			results, err = m.Apply(t.Context(), []*unstructured.Unstructured{volumeNamed("-three")})
			return err == nil
		}, patience, 10*time.Millisecond, "the label was dropped")
		assert.Equal(t, string(after.GetUID()), results[0].Object.GetLabels()["operkit.dev/owner-uid"])
		_, err = m.Delete(t.Context(), []*unstructured.Unstructured{volumeNamed("-three")})
		require.NoError(t, err)
	})
	t.Run("by reference: the garbage collector spares what was adopted, and takes what wasn't", func(t *testing.T) {
		before := owner("referred")
		var kept, lost *unstructured.Unstructured
		kept = apply(t, managerOf(before), settings(t, env, "kept", "1")).Object
		require.Len(t, kept.GetOwnerReferences(), 1)
		after := restore(t, before, kept)
		result, err := managerOf(after).Apply(t.Context(), []*unstructured.Unstructured{settings(t, env, "kept", "1")})
		t.Logf("applied beside the collector: %v %v", result[0].Action, err)
		stray := settings(t, env, "stray", "1")
		stray.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "referred", UID: before.GetUID()}})
		lost, err = c.Port().Create(t.Context(), stray, deploy.CreateOptions{FieldManager: "velero-server"})
		require.NoError(t, err)
		began := time.Now()
		eventually(t, c, deploy.RefOf(lost), func(obj *unstructured.Unstructured) bool { return obj == nil })
		t.Logf("the collector took what refers to the former owner alone after %s", time.Since(began))
		require.Eventually(t, func() bool {
			result, err := managerOf(after).Apply(t.Context(), []*unstructured.Unstructured{settings(t, env, "kept", "1")})
			if err != nil || result[0].Object == nil {
				return false
			}
			references := result[0].Object.GetOwnerReferences()
			return len(references) == 1 && references[0].UID == after.GetUID()
		}, patience, 20*time.Millisecond)
	})
}
