package desired_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// child returns a child of the parent.
func (w *entitled) child(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	obj, err := w.others.Get(w.Context(), deploy.Ref{Kind: kind, Namespace: w.parent.Namespace, Name: name})
	require.NoError(w, err)
	return obj
}

// feed reports that a CatHouse is fed, without a generation.
func (w *entitled) feed(name, note string) {
	body := fmt.Sprintf(`{"status":{"note":%q,"conditions":[{"type":"Fed","status":"True","reason":"A","lastTransitionTime":"2030-01-01T00:00:00Z"}]}}`, note)
	_, err := w.others.Patch(w.Context(), deploy.Ref{Kind: catHouses, Namespace: w.parent.Namespace, Name: name},
		deploy.PatchRequest{Type: types.MergePatchType, Subresource: "status", Body: []byte(body), FieldManager: "somebody"})
	require.NoError(w, err)
}

func (w *entitled) size(name string) any {
	spec, _ := w.child(catHouses, name).Object["spec"].(map[string]any)
	return spec["size"]
}

// TestRealHealth rolls children whose status shows no generation, over the cache of a real cluster: it has neither the
// times nor the entries of the status among the managed fields.
func TestRealHealth(t *testing.T) {
	begin := func(w *entitled, children ...any) {
		p := parent(children...)
		p.SetName(w.parent.Name)
		w.create(catSets, p.Object)
		w.becomes(int64(len(children)), "they are created")
	}
	wants := func(w *entitled, children ...any) {
		w.edit(func(p *unstructured.Unstructured) { p.Object["spec"] = map[string]any{"children": children} })
		w.becomes(int64(len(children)), "the roll has begun")
	}
	t.Run("desired 63: a custom kind: the status from before a change doesn't count, and the next one does at once", func(t *testing.T) {
		t.Parallel()
		w := runEntitled(t, desired.New(catSets, script{},
			desired.Child(catHouses, desired.RollingInPlace, desired.Healthy("Fed", metav1.ConditionTrue))), true)
		begin(w, house("a", 1), house("b", 1))
		w.feed("a", "1")
		w.feed("b", "1")
		wants(w, house("a", 2), house("b", 2))
		assert.Equal(t, []any{int64(2), int64(1)}, []any{w.size("a"), w.size("b")}, "nobody has looked at a yet")
		w.feed("a", "2")
		assert.Eventually(t, func() bool { return w.size("b") == int64(2) }, 8*time.Second, 20*time.Millisecond, "not only after ten seconds")
	})
	t.Run("desired 63: Pods that are created again report their own health", func(t *testing.T) {
		t.Parallel()
		w := runEntitled(t, desired.New(catSets, script{}, desired.Child(pods, desired.RollingRecreate)), true)
		begin(w, pod("a", "cat:1"), pod("b", "cat:1"))
		before := w.child(pods, "b").GetUID()
		ready := func(name string) *metav1.Time {
			p := w.child(pods, name)
			if p == nil {
				return nil
			}
			conditions, _, _ := unstructured.NestedSlice(p.Object, "status", "conditions")
			for _, one := range conditions {
				condition := one.(map[string]any)
				if condition["type"] == "Ready" && condition["status"] == "True" {
					at, err := time.Parse(time.RFC3339, condition["lastTransitionTime"].(string))
					require.NoError(t, err)
					return &metav1.Time{Time: at}
				}
			}
			return nil
		}
		require.Eventually(t, func() bool { return ready("a") != nil && ready("b") != nil }, time.Minute, 100*time.Millisecond)
		w.edit(func(p *unstructured.Unstructured) {
			p.Object["spec"] = map[string]any{"children": []any{pod("a", "cat:2"), pod("b", "cat:2")}}
		})
		require.Eventually(t, func() bool {
			b := w.child(pods, "b")
			return b != nil && b.GetUID() != before
		}, time.Minute, 100*time.Millisecond)
		went := w.child(pods, "b").GetCreationTimestamp().Time
		at := ready("a")
		require.NotNil(t, at)
		assert.False(t, went.Before(at.Time), "b goes when a is ready")
		assert.Less(t, went.Sub(at.Time), 9*time.Second, "and not only after ten seconds")
	})
}
