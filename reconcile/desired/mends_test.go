package desired_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestOldHealth(t *testing.T) {
	t.Parallel()
	t.Run("desired 63: the health from before a change doesn't count", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(catHouses, desired.RollingInPlace, desired.Healthy("Fed", metav1.ConditionTrue)))
		h.Apply(parent(house("a", 1), house("b", 1)))
		h.RunUntilSettled()
		for _, name := range []string{"a", "b"} {
			h.SetStatus("CatHouse "+name, map[string]any{"conditions": []any{map[string]any{"type": "Fed", "status": "True", "reason": "A"}}})
		}
		h.RunUntilSettled()
		h.Advance(time.Minute)
		want(h, house("a", 2), house("b", 2))
		result, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		size := func(name string) any { return h.Get("CatHouse " + name).Object["spec"].(map[string]any)["size"] }
		assert.Equal(t, []any{int64(2), int64(1)}, []any{size("a"), size("b")}, "nobody has looked at a yet")
		assert.Positive(t, result.RequeueAfter)
		assert.LessOrEqual(t, result.RequeueAfter, 10*time.Second)
		h.RunUntilSettled()
		assert.Equal(t, int64(2), size("b"), "its controller has nothing to report")
	})
}

func TestEndlessWrites(t *testing.T) {
	t.Parallel()
	t.Run("desired 29: after five times the writes are known as own ones, and the status is written", func(t *testing.T) {
		t.Parallel()
		n := 0
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			n++
			response.Children = []any{configMap("a", fmt.Sprint("n=", n))}
			return nil
		}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent())
		result, err := h.Reconcile("CatSet tom")
		require.NoError(t, err)
		a := h.Get("ConfigMap a")
		assert.Equal(t, request.Revision{UID: a.GetUID(), ResourceVersion: a.GetResourceVersion()}, result.Wrote[4])
		assert.Equal(t, int64(1), statusOf(h)["children"])
	})
}

// counter reports the children that a failed reconcile has left.
type counter struct{ script }

func (counter) Failed(r desired.Request[desired.Unstructured], _ error) any {
	return map[string]any{"failedWith": r.Children.Len()}
}

func TestStatusAfterErrors(t *testing.T) {
	t.Parallel()
	bad := configMap("bad")
	bad["data"] = map[string]any{"no/key": "x"}
	t.Run("desired 64: Failed gets the children as they are after the error", func(t *testing.T) {
		t.Parallel()
		h := drive(t, counter{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("good"), bad))
		_, err := h.Reconcile("CatSet tom")
		require.Error(t, err)
		assert.Equal(t, int64(1), statusOf(h)["failedWith"])
	})
	t.Run("desired 64: without Failed the status of the function is written", func(t *testing.T) {
		t.Parallel()
		h := drive(t, script{}, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(bad))
		_, err := h.Reconcile("CatSet tom")
		require.Error(t, err)
		assert.Equal(t, map[string]any{"children": int64(0), "observedGeneration": int64(1)}, statusOf(h))
	})
	t.Run("desired 30: a negative time is a permanent error", func(t *testing.T) {
		t.Parallel()
		s := script{also: func(_ desired.Request[desired.Unstructured], response *desired.Response) error {
			response.ResyncAfter = -time.Second
			return nil
		}}
		h := drive(t, s)
		h.Apply(parent())
		_, err := h.Reconcile("CatSet tom")
		require.ErrorContains(t, err, "negative")
		assert.True(t, request.IsPermanent(err))
	})
}

func TestFinalizedWaits(t *testing.T) {
	t.Parallel()
	t.Run("desired 11: a parent stays until the children that aren't wanted are gone", func(t *testing.T) {
		t.Parallel()
		keepNone := func(desired.Request[desired.Unstructured]) []any { return nil }
		h := drive(t, teardown{script{}, keepNone}, desired.Child(configMaps, desired.InPlace))
		p := parent(configMap("a"))
		p.SetAnnotations(map[string]string{"free": "true"})
		h.Apply(p)
		h.RunUntilSettled()
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers([]string{"example.dev/slow"}) })
		h.Delete("CatSet tom")
		h.RunUntilSettled()
		h.Exists("CatSet tom", "ConfigMap a")
		h.Edit("ConfigMap a", func(a *unstructured.Unstructured) { a.SetFinalizers(nil) })
		h.RunUntilSettled()
		h.Gone("CatSet tom", "ConfigMap a")
	})
}

func TestSelections(t *testing.T) {
	t.Parallel()
	definitions := filepath.Join(t.TempDir(), "catsets.yaml")
	require.NoError(t, os.WriteFile(definitions, []byte(catSetsDefinition), 0o600))
	for reason, selection := range map[string]desired.Selection{
		"desired 18: without names and labels nothing is selected": {Kind: secrets, Names: []string{}},
		"desired 65: a kind that isn't served has no objects":      {Kind: schema.GroupVersionKind{Group: "none.dev", Version: "v1", Kind: "None"}, Names: []string{"a"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			h := reconciletest.Drive(t, desired.New(catSets, relater{selections: []desired.Selection{selection}}), reconciletest.Definitions(definitions))
			h.Apply(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"}})
			h.Apply(parent())
			result, err := h.Reconcile("CatSet tom")
			require.NoError(t, err)
			assert.Empty(t, statusOf(h)["secrets"])
			assert.Equal(t, selection.Kind.Group != "", result.RequeueAfter == time.Minute, "%s", result.RequeueAfter)
		})
	}
	t.Run("desired 23: the rights to read declared related kinds are declared", func(t *testing.T) {
		t.Parallel()
		c := desired.New(catSets, script{}, desired.Relates(secrets))
		reconciler, err := c.Reconciler(t.Context(), envOf(t, memory(t)))
		require.NoError(t, err)
		assert.Contains(t, reconciler.(watch.RightsProvider).Rights(), deploy.Right{Kind: secrets, Verbs: []string{"get", "list", "watch"}})
	})
}

func TestCopies(t *testing.T) {
	t.Parallel()
	t.Run("desired 66: a function gets copies, and a changed one is a wanted child", func(t *testing.T) {
		t.Parallel()
		one := &unstructured.Unstructured{Object: configMap("a", "k=1")}
		all := desired.Collect(one)
		all.Get(configMaps, "a").SetLabels(map[string]string{"a": "b"})
		all.Of(configMaps)[0].SetLabels(map[string]string{"a": "b"})
		assert.Empty(t, one.GetLabels())
		s := script{also: func(r desired.Request[desired.Unstructured], response *desired.Response) error {
			if a := r.Children.Get(configMaps, "a"); a != nil {
				a.SetLabels(map[string]string{"mine": "yes"})
				response.Children = []any{a}
			}
			return nil
		}}
		h := drive(t, s, desired.Child(configMaps, desired.InPlace))
		h.Apply(parent(configMap("a", "k=1")))
		h.RunUntilSettled()
		assert.Equal(t, "yes", h.Get("ConfigMap a").GetLabels()["mine"])
		settles(t, h, "it stays")
	})
}
