package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestAddOwner(t *testing.T) {
	t.Parallel()
	ours := blocking("c")
	ours.Controller = new(true)
	plain, former := blocking("c"), blocking("c")
	former.UID = "before"
	for name, test := range map[string]struct {
		exists  *unstructured.Unstructured
		applied bool
		options []deploy.Option
		want    deploy.Action
		owners  []metav1.OwnerReference
	}{
		"owner 1: an object that we applied, and that lost its reference": {settings(t, "{b: '2'}"), true, nil,
			deploy.Configured, []metav1.OwnerReference{ours}},
		"owner 1: an object of somebody else isn't adopted": {settings(t, "{b: '2'}"), false, nil, deploy.Conflicted, nil},
		"owner 1: but on request": {settings(t, "{b: '2'}"), false, []deploy.Option{deploy.Adopt(deploy.AdoptUnowned)},
			deploy.Configured, []metav1.OwnerReference{ours}},
		"owner 1: a plain reference becomes the controller": {owned(settings(t, "{}"), reference("d"), plain), false, nil,
			deploy.Configured, []metav1.OwnerReference{reference("d"), ours}},
		"owner 1: there is one controller": {owned(settings(t, "{}"), controlling("d"), plain), false, nil,
			deploy.Conflicted, []metav1.OwnerReference{controlling("d"), plain}},
		"owner 1: a former owner of our name is gone": {owned(settings(t, "{}"), former), true, nil, deploy.Configured, []metav1.OwnerReference{ours}},
		"owner 1: it is the owner already":            {owned(settings(t, "{}"), ours), false, nil, deploy.Unchanged, []metav1.OwnerReference{ours}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exists := test.exists.DeepCopy()
			if test.applied {
				exists.SetAnnotations(map[string]string{appliedMark: "as-before"})
			}
			cluster := newCluster(t, exists)
			m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.AsController()))
			before := cluster.get(t, settingsRef)
			result, err := m.AddOwner(t.Context(), before, test.options...)
			assert.Equal(t, test.want, result.Action, "%v", err)
			assert.Equal(t, test.want == deploy.Conflicted, err != nil)
			after := cluster.get(t, settingsRef)
			assert.Equal(t, test.owners, after.GetOwnerReferences())
			assert.Equal(t, before.Object["data"], after.Object["data"])
			assert.Equal(t, before.GetAnnotations(), after.GetAnnotations())
			writes := cluster.take()
			assert.Len(t, writes, map[bool]int{true: 1}[test.want == deploy.Configured], "%v", writes)
		})
	}
	t.Run("owner 1: an object of the same intent isn't recreated for its new owner", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		recreating := deploy.DefaultStrategy(deploy.RecreateOnChange)
		of := func(uid string) *deploy.Manager {
			owner := cart("c")
			owner.SetUID(types.UID(uid))
			return must(deploy.NewManager(cluster, deploy.OwnedBy(owner), deploy.AsController(), recreating))
		}
		require.NoError(t, apply(t, of("first"), settings(t, "{a: '1'}")).Err)
		cluster.edit(t, settingsRef, `{"metadata":{"ownerReferences":null}}`)
		_, err := of("second").AddOwner(t.Context(), cluster.get(t, settingsRef))
		require.NoError(t, err)
		assert.Equal(t, deploy.Configured, apply(t, of("second"), settings(t, "{a: '1'}")).Action)
		assert.Equal(t, deploy.Unchanged, apply(t, of("second"), settings(t, "{a: '1'}")).Action)
		assert.Equal(t, deploy.Recreated, apply(t, of("second"), settings(t, "{a: '2'}")).Action)
	})
	t.Run("owner 1: an outdated object, and one that is being deleted", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		m := must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")), deploy.Adopt(deploy.AdoptUnowned)))
		outdated := cluster.get(t, settingsRef)
		cluster.edit(t, settingsRef, `{"metadata":{"finalizers":["example.com/held"]}}`)
		_, err := m.AddOwner(t.Context(), outdated)
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		result, err := m.AddOwner(t.Context(), cluster.get(t, settingsRef))
		var going *deploy.TerminatingError
		require.ErrorAs(t, err, &going)
		assert.Equal(t, deploy.Skipped, result.Action)
	})
}
