package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRemoveOwner(t *testing.T) {
	t.Parallel()
	ours := blocking("c")
	ours.Controller = new(true)
	labels := func(labels map[string]string) *unstructured.Unstructured {
		obj := settings(t, "{b: '2'}")
		obj.SetLabels(labels)
		return obj
	}
	const mark = "operkit.dev/owner-uid"
	for name, test := range map[string]struct {
		exists *unstructured.Unstructured
		want   deploy.Action
		owners []metav1.OwnerReference
		labels map[string]string
	}{
		"owner 2: the reference goes":                  {owned(settings(t, "{b: '2'}"), ours), deploy.Configured, nil, nil},
		"owner 2: other owners stay":                   {owned(settings(t, "{b: '2'}"), reference("d"), ours), deploy.Configured, []metav1.OwnerReference{reference("d")}, nil},
		"owner 2: the label goes, and no other one":    {labels(map[string]string{mark: string(ours.UID), "a": "1"}), deploy.Configured, nil, map[string]string{"a": "1"}},
		"owner 2: the label of another owner stays":    {labels(map[string]string{mark: "d"}), deploy.Unchanged, nil, map[string]string{mark: "d"}},
		"owner 2: an object of somebody else stays":    {owned(settings(t, "{}"), controlling("d")), deploy.Unchanged, []metav1.OwnerReference{controlling("d")}, nil},
		"owner 2: an object without owners isn't ours": {settings(t, "{}"), deploy.Unchanged, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, test.exists.DeepCopy())
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
			before := cluster.get(t, settingsRef)
			given := before.DeepCopy()
			dry, err := m.RemoveOwner(t.Context(), before, deploy.DryRun())
			require.NoError(t, err)
			assert.Equal(t, test.want, dry.Action)
			assert.Equal(t, before, cluster.get(t, settingsRef), "a dry run changes nothing")
			cluster.take()
			result, err := m.RemoveOwner(t.Context(), before)
			require.NoError(t, err)
			assert.Equal(t, test.want, result.Action)
			assert.Equal(t, given, before)
			after := cluster.get(t, settingsRef)
			assert.Equal(t, test.owners, after.GetOwnerReferences())
			assert.Equal(t, test.labels, after.GetLabels())
			assert.Equal(t, before.Object["data"], after.Object["data"])
			writes := cluster.take()
			assert.Len(t, writes, map[bool]int{true: 1}[test.want == deploy.Configured], "%v", writes)
		})
	}
	t.Run("owner 2: an outdated object, and one that is gone", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, owned(settings(t, "{}"), ours))
		m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c"))))
		outdated := cluster.get(t, settingsRef)
		cluster.edit(t, settingsRef, `{"data":{"a":"1"}}`)
		_, err := m.RemoveOwner(t.Context(), outdated)
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		result, err := m.RemoveOwner(t.Context(), outdated)
		require.NoError(t, err)
		assert.Equal(t, deploy.Unchanged, result.Action)
		assert.Nil(t, result.Object)
	})
	t.Run("owner 2: without an owner nothing is removed", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, owned(settings(t, "{}"), ours))
		result, err := must(deploy.NewManager(cluster)).RemoveOwner(t.Context(), cluster.get(t, settingsRef))
		require.NoError(t, err)
		assert.Equal(t, deploy.Unchanged, result.Action)
		assert.Empty(t, cluster.take())
	})
}
