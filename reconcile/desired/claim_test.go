package desired_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// keepers adopt, and keep each child as it is.
func keepers() adopter {
	return adopter{script{also: func(r desired.Request[desired.Unstructured], response *desired.Response) error {
		for _, one := range r.Children.Of(configMaps) {
			response.Children = append(response.Children, one)
		}
		return nil
	}}}
}

// relabel gives a ConfigMap the label cat.
func relabel(h *reconciletest.Harness, object, cat string) {
	h.Edit(object, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"cat": cat}) })
}

func TestRelease(t *testing.T) {
	t.Parallel()
	t.Run("desired 73: an adopted object that isn't selected any more is released, and nothing else of it changes", func(t *testing.T) {
		t.Parallel()
		h := drive(t, keepers(), desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("a", "k=theirs")), adopting())
		h.RunUntilSettled()
		require.False(t, isOrphan(h.Get("ConfigMap a")))
		relabel(h, "ConfigMap a", "other")
		settles(t, h, "one write, and the status", "configured ConfigMap a", statusWritten)
		a := h.Get("ConfigMap a")
		assert.True(t, isOrphan(a))
		assert.Equal(t, map[string]any{"k": "theirs"}, a.Object["data"])
		assert.Equal(t, int64(0), statusOf(h)["children"])
		relabel(h, "ConfigMap a", "tom")
		settles(t, h, "it is adopted again", "configured ConfigMap a", statusWritten)
	})
	t.Run("desired 73: other owners stay", func(t *testing.T) {
		t.Parallel()
		h := drive(t, keepers(), desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("a")), configMap("owner"), adopting())
		h.RunUntilSettled()
		theirs := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: h.Get("ConfigMap owner").GetUID()}
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetOwnerReferences(append(a.GetOwnerReferences(), theirs)) })
		h.RunUntilSettled()
		relabel(h, "ConfigMap a", "other")
		h.RunUntilSettled()
		assert.Equal(t, []metav1.OwnerReference{theirs}, h.Get("ConfigMap a").GetOwnerReferences())
	})
	t.Run("desired 73: an object that others have given to the parent keeps its owner", func(t *testing.T) {
		t.Parallel()
		h := drive(t, keepers(), desired.Child(configMaps, desired.InPlace))
		h.Apply(adopting())
		h.RunUntilSettled()
		controls := true
		theirs := &unstructured.Unstructured{Object: labelled(configMap("theirs"))}
		theirs.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: "example.dev/v1", Kind: "CatSet", Name: "tom", UID: h.Get("CatSet tom").GetUID(), Controller: &controls,
		}})
		h.Apply(theirs)
		h.RunUntilSettled()
		require.Equal(t, int64(1), statusOf(h)["children"])
		relabel(h, "ConfigMap theirs", "other")
		settles(t, h, "only the status", statusWritten)
		assert.False(t, isOrphan(h.Get("ConfigMap theirs")))
	})
	t.Run("desired 73: a child that was applied is one whatever its labels, and so is a wanted one", func(t *testing.T) {
		t.Parallel()
		h := drive(t, adopter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("a", "k=theirs")), adopting(configMap("a", "k=1"), configMap("b", "k=1")))
		h.RunUntilSettled()
		relabel(h, "ConfigMap a", "other")
		relabel(h, "ConfigMap b", "other")
		settles(t, h, "nothing is to be done")
		assert.False(t, isOrphan(h.Get("ConfigMap a")))
		assert.False(t, isOrphan(h.Get("ConfigMap b")))
		assert.Equal(t, int64(2), statusOf(h)["children"])
	})
	t.Run("desired 73: an object that is gone meanwhile needs no release", func(t *testing.T) {
		t.Parallel()
		h := drive(t, keepers(), desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("a")), adopting())
		h.RunUntilSettled()
		relabel(h, "ConfigMap a", "other")
		require.NoError(t, h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: configMaps, Name: "a", Code: 404, Count: 1}))
		_, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
	})
	t.Run("desired 73: a dry run releases nothing", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.Drive(t, desired.New(catSets, keepers(), desired.Child(configMaps, desired.InPlace)), reconciletest.Manager(deploy.DryRun()))
		h.Apply(configMap("a"), adopting())
		body := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"example.dev/v1","kind":"CatSet","name":"tom","uid":%q,"controller":true}]}}`,
			h.Get("CatSet tom").GetUID())
		_, err := h.Cluster().Port().Patch(t.Context(), deploy.Ref{Kind: configMaps, Namespace: "test", Name: "a"},
			deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "operkit"})
		require.NoError(t, err)
		before := h.Get("ConfigMap a")
		_, err = h.Reconcile("CatSet tom")
		require.NoError(t, err)
		assert.Equal(t, before, h.Get("ConfigMap a"))
	})
	t.Run("desired 73: a parent that is being deleted releases nothing", func(t *testing.T) {
		t.Parallel()
		h := drive(t, all{teardown{keepers().script, func(r desired.Request[desired.Unstructured]) (kept []any) {
			for _, one := range r.Children.Of(configMaps) {
				kept = append(kept, one)
			}
			return kept
		}}}, desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("a")), adopting())
		h.RunUntilSettled()
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		relabel(h, "ConfigMap a", "other")
		h.RunUntilSettled()
		assert.False(t, isOrphan(h.Get("ConfigMap a")))
	})
	t.Run("desired 12: an orphan that has an owner, or is going, isn't adopted", func(t *testing.T) {
		t.Parallel()
		h := drive(t, keepers(), desired.Child(configMaps, desired.InPlace))
		h.Apply(configMap("owner"))
		owned, going := &unstructured.Unstructured{Object: labelled(configMap("owned"))}, &unstructured.Unstructured{Object: labelled(configMap("going"))}
		owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: h.Get("ConfigMap owner").GetUID()}})
		going.SetFinalizers([]string{"example.dev/slow"})
		h.Apply(owned, going)
		h.Delete("ConfigMap going")
		h.Apply(adopting())
		settles(t, h, "nothing is adopted", statusWritten)
		assert.True(t, isOrphan(h.Get("ConfigMap going")))
	})
}

func TestEchoesOfSelected(t *testing.T) {
	t.Parallel()
	t.Run("desired 14: the events of own writes bring no further reconcile, also of children that an Adopter selects", func(t *testing.T) {
		t.Parallel()
		h := drive(t, adopter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(labelled(configMap("b", "k=theirs")))
		h.Apply(adopting(labelled(configMap("a")), labelled(configMap("b", "k=1"))))
		h.RunUntilSettled()
		assert.Len(t, h.Runs(), 1, "with an adoption, which is two writes of b")
		want(h, labelled(configMap("a", "k=2")), labelled(configMap("b", "k=1")))
		h.RunUntilSettled()
		assert.Len(t, h.Runs(), 2)
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.Object["data"] = map[string]any{"k": "theirs"} })
		h.RunUntilSettled()
		assert.Len(t, h.Runs(), 3, "what others do")
		want(h, labelled(configMap("b", "k=1")))
		h.RunUntilSettled()
		require.Len(t, h.Runs(), 5, "the end of a deleted child")
		for _, call := range h.Runs()[4].Calls {
			assert.False(t, call.Write(), "%s", call)
		}
	})
}
