package desired_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCats(t *testing.T) {
	h := reconciletest.Drive(t, desired.New(catSets, cats{}, desired.Child(pods, desired.RollingRecreate)))
	h.Apply(catSet("tom", 3, "cat:1"))
	h.RunUntilSettled()
	for _, c := range h.Calls() {
		t.Log(c)
	}
	h.Exists("Pod tom-0", "Pod tom-1", "Pod tom-2")
	h.RunUntilSettled()
	h.Writes(0)
	assert.Equal(t, int64(3), h.Get("CatSet tom").Object["status"].(map[string]any)["cats"])
	h.Edit("CatSet tom", func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = map[string]any{"cats": int64(2), "image": "cat:2"}
	})
	h.RunUntilSettled()
	for _, c := range h.Calls() {
		t.Log(c)
	}
}
