package desired_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRandom changes what is wanted, edits and deletes children, breaks and mends them and restarts the process, at
// random. In the end the children are the wanted ones, whatever has happened, and no wanted child was ever deleted
// except to be recreated.
func TestRandom(t *testing.T) {
	t.Parallel()
	for _, strategy := range []desired.Strategy{desired.InPlace, desired.Replace, desired.Recreate, desired.RollingInPlace, desired.RollingRecreate} {
		t.Run("desired 9: the children become the wanted ones by "+string(strategy), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(8) {
				chaos(t, strategy, rand.New(rand.NewPCG(seed, 7)))
			}
		})
	}
}

func chaos(t *testing.T, strategy desired.Strategy, random *rand.Rand) {
	t.Helper()
	h := drive(t, script{}, desired.Child(configMaps, strategy), desired.Child(pods, strategy))
	h.Apply(parent())
	var wanted []any
	for range 12 {
		switch random.IntN(6) {
		case 0, 1:
			wanted = anyChildren(random)
			want(h, wanted...)
		case 2:
			for _, name := range []string{"a", "b", "c"} {
				if h.Get("ConfigMap "+name) != nil {
					h.Edit("ConfigMap "+name, func(obj *unstructured.Unstructured) { obj.Object["data"] = map[string]any{"k": "edited"} })
				}
			}
		case 3:
			for _, object := range []string{"ConfigMap b", "Pod c"} {
				if h.Get(object) != nil {
					h.Delete(object)
				}
			}
		case 4:
			h.Hold("Pod a")
		default:
			h.Restart()
		}
		if random.IntN(2) == 0 {
			h.RunUntilSettled()
			neverDeletes(t, h, wanted, strategy)
		}
	}
	h.Release()
	h.RunUntilSettled()
	assert.Equal(t, int64(len(wanted)), statusOf(h)["children"], "%v", wanted)
	for _, one := range wanted {
		child := &unstructured.Unstructured{Object: one.(map[string]any)}
		live := h.Get(child.GetKind() + " " + child.GetName())
		require.NotNil(t, live, "%v", wanted)
		if child.GetKind() == "ConfigMap" {
			assert.Equal(t, child.Object["data"], live.Object["data"])
			continue
		}
		containers, _, _ := unstructured.NestedSlice(child.Object, "spec", "containers")
		found, _, _ := unstructured.NestedSlice(live.Object, "spec", "containers")
		assert.Equal(t, containers[0].(map[string]any)["image"], found[0].(map[string]any)["image"])
	}
	settles(t, h, "nothing is left to do")
}

// anyChildren returns some children, each in one of two forms.
func anyChildren(random *rand.Rand) (children []any) {
	for _, name := range []string{"a", "b", "c"} {
		if random.IntN(3) > 0 {
			children = append(children, configMap(name, fmt.Sprint("k=", random.IntN(2))))
		}
		if random.IntN(3) > 0 {
			children = append(children, pod(name, fmt.Sprint("cat:", random.IntN(2))))
		}
	}
	return children
}

// neverDeletes asserts that the latest run has deleted a wanted child only to create it again.
func neverDeletes(t *testing.T, h *reconciletest.Harness, wanted []any, strategy desired.Strategy) {
	t.Helper()
	deleted := map[string]int{}
	for _, call := range h.Calls() {
		switch call.Action {
		case "deleted":
			deleted[call.Ref.String()]++
		case "created":
			deleted[call.Ref.String()]--
		}
	}
	for _, one := range wanted {
		child := &unstructured.Unstructured{Object: one.(map[string]any)}
		assert.LessOrEqual(t, deleted[child.GetKind()+" test/"+child.GetName()], 0, "%s: %v", strategy, h.Calls())
	}
}
