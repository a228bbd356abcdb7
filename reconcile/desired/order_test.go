package desired_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOrder is about what is done before what.
func TestOrder(t *testing.T) {
	t.Parallel()
	t.Run("desired 5: absent children are created before others are changed, whatever the order of the answer", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a", "k=1"), configMap("b", "k=1")))
		h.RunUntilSettled()
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbApply, Name: "c", Count: 1, Latency: 50 * time.Millisecond}))
		want(h, configMap("a", "k=2"), configMap("c"), configMap("b", "k=2"), configMap("d"))
		h.RunUntilSettled()
		got := writes(h)
		require.Len(t, got, 5)
		assert.ElementsMatch(t, []string{"created ConfigMap c", "created ConfigMap d"}, got[:2])
		assert.ElementsMatch(t, []string{"configured ConfigMap a", "configured ConfigMap b"}, got[2:4])
	})
	t.Run("desired 8: nothing is deleted while a wanted child is being recreated", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.Recreate))
		h.Apply(parent(configMap("a", "k=1"), configMap("b")))
		h.RunUntilSettled()
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers([]string{"example.dev/slow"}) })
		want(h, configMap("a", "k=2"))
		settles(t, h, "a isn't gone yet", "deleted ConfigMap a", statusWritten)
		h.Exists("ConfigMap b")
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers(nil) })
		h.RunUntilSettled()
		assert.Equal(t, []string{"created ConfigMap a", "deleted ConfigMap b"}, writes(h)[:2])
		settles(t, h, "all is done")
	})
	t.Run("desired 61: a child that has lost its owner is observed as a child before anything else is done", func(t *testing.T) {
		t.Parallel()
		var seen []string
		s := script{also: func(r desired.Request[desired.Unstructured], _ *desired.Response) error {
			names := ""
			for _, one := range r.Children.Of(configMaps) {
				names += one.GetName() + " "
			}
			seen = append(seen, names)
			return nil
		}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a", "k=1"), configMap("gone")))
		h.RunUntilSettled()
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetOwnerReferences(nil) })
		seen = nil
		want(h, configMap("new"), configMap("a", "k=2"))
		h.RunUntilSettled()
		assert.Equal(t, []string{"configured ConfigMap a", "created ConfigMap new", "configured ConfigMap a", "deleted ConfigMap gone"}, writes(h)[:4],
			"its owner comes first")
		assert.Equal(t, []string{"gone ", "a gone ", "a new "}, seen[:3], "then the function is asked about it")
	})
	t.Run("desired 11: in a namespace that is being deleted a parent is released although a wanted child can't be created", func(t *testing.T) {
		t.Parallel()
		farewell := func(desired.Request[desired.Unstructured]) []any { return []any{configMap("farewell")} }
		h := reconciletest.Drive(t, desired.New(catSets, teardown{script{}, farewell}, desired.Child(configMaps, desired.InPlace)),
			reconciletest.Memory(dryrun.AnyKind(), dryrun.Namespaces("test")))
		p := parent()
		p.SetAnnotations(map[string]string{"free": "true"})
		h.Apply(p)
		h.RunUntilSettled()
		h.Delete("Namespace test")
		h.RunUntilSettled()
		h.Gone("CatSet tom", "ConfigMap farewell")
	})
}

// TestAdoptionAlone is about orphans that aren't adopted.
func TestAdoptionAlone(t *testing.T) {
	t.Parallel()
	t.Run("desired 12: a cluster-scoped parent adopts no object of a namespace", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.Drive(t, desired.New(catSets, adopter{}, desired.Child(configMaps, desired.InPlace), desired.Child(catHouses, desired.InPlace)),
			reconciletest.Memory(dryrun.AnyKind(catSets.GroupKind(), catHouses.GroupKind()), dryrun.Namespaces("other")))
		orphan := labelled(configMap("a"))
		orphan["metadata"].(map[string]any)["namespace"] = "other"
		h.Apply(orphan, labelled(house("h", 1)))
		h.Apply(adopting(house("h", 2)))
		h.RunUntilSettled()
		h.Exists("ConfigMap other/a")
		assert.True(t, isOrphan(h.Get("ConfigMap other/a")))
		assert.False(t, isOrphan(h.Get("CatHouse h")), "but one without a namespace")
	})
	t.Run("desired 12: an orphan that can't be adopted keeps neither others from being adopted nor children from being applied", func(t *testing.T) {
		t.Parallel()
		h := drive(t, keepers(), desired.Child(configMaps, desired.InPlace), desired.Child(services, desired.InPlace))
		h.Apply(labelled(configMap("a")), labelled(configMap("b")))
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: configMaps, Name: "a", Code: 403}))
		h.Apply(adopting())
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "adopt ConfigMap test/a: ")
		want(h, service("s", 80))
		h.RunUntilSettled()
		h.Exists("Service s")
		assert.True(t, isOrphan(h.Get("ConfigMap a")))
		assert.False(t, isOrphan(h.Get("ConfigMap b")))
	})
}
