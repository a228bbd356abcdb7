package reconcile

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// scale sets the replicas as an autoscaler or kubectl scale does.
func (w *world) scale(name string) {
	w.t.Helper()
	w.merge(deploymentRef(name), `{"spec":{"replicas":5}}`)
	entries := w.get(deploymentRef(name)).DeepCopy().Object["metadata"].(map[string]any)["managedFields"].([]any)
	for _, item := range entries {
		entry := item.(map[string]any)
		if _, spec := entry["fieldsV1"].(map[string]any)["f:spec"]; spec && entry["operation"] == "Update" {
			entry["subresource"], entry["manager"] = "scale", "kubectl"
		}
	}
	body, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/metadata/managedFields", "value": entries}})
	require.NoError(w.t, err)
	_, err = w.memory.Port().Patch(w.t.Context(), deploymentRef(name), deploy.PatchRequest{Type: types.JSONPatchType, Body: body, FieldManager: "kubectl"})
	require.NoError(w.t, err)
}

// scaledTo is what the controller of Deployments says once there are so many replicas.
func (w *world) scaledTo(n int) {
	w.t.Helper()
	generation := w.get(deploymentRef("web")).GetGeneration()
	w.mergeStatus(deploymentRef("web"), fmt.Sprintf(
		`{"status":{"observedGeneration":%d,"replicas":%[2]d,"updatedReplicas":%[2]d,"readyReplicas":%[2]d,"availableReplicas":%[2]d}}`, generation, n))
}

func TestKeptFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	replicas := int64(1)
	c := adding(func(s *Session) {
		web := deployment("web")
		web.Object["spec"] = map[string]any{"replicas": replicas, "paused": false}
		s.Add("web", web)
		s.Add("other", configMap("c"))
	})
	r := w.reconciler(c)
	w.calm(r)
	w.makeReady("web")
	w.calm(r)
	assert.Equal(t, "Verify Complete", w.condition(status.ConditionReady).Message)
	w.scale("web")
	w.scaledTo(5)
	calls := w.calm(r)
	assert.Equal(t, []string{"patch Widget shop/w/status"}, calls)
	const left = "Deployment web: spec.replicas: left to kubectl, which set 5"
	assert.Equal(t, "Verify Complete; "+left, w.condition(status.ConditionReady).Message)
	messages, _ := w.status("componentStatus", "componentMessages").([]any)
	assert.Equal(t, []any{map[string]any{"name": "web", "message": left}}, messages)
	for range 3 {
		assert.Empty(t, w.calm(r), "it costs no call")
	}
	assert.Empty(t, w.calm(w.reconciler(c)), "nor does a restart, and it is still said")
	assert.Equal(t, "Verify Complete; "+left, w.condition(status.ConditionReady).Message)

	replicas = 2
	w.calm(r)
	w.scaledTo(5)
	w.calm(r)
	assert.Equal(t, "Verify Complete; "+left, w.condition(status.ConditionReady).Message, "a change of the resource doesn't reach it")
	plan, err := r.Plan(t.Context(), w.widget())
	require.NoError(t, err)
	assert.False(t, plan.Changed())
	for _, planned := range plan.Components {
		if planned.Component.Name() == "web" {
			assert.Equal(t, "spec.replicas: left to kubectl, which set 5", planned.Differences[0].Kept[0].Left())
		}
	}

	_, err = must(deploy.NewManager(w.memory)).TakeBack(t.Context(), deploymentRef("web"), []string{"spec.replicas"})
	require.NoError(t, err)
	w.calm(r)
	assert.Equal(t, int64(2), w.get(deploymentRef("web")).Object["spec"].(map[string]any)["replicas"])
	w.scaledTo(2)
	w.calm(r)
	assert.Equal(t, "Verify Complete", w.condition(status.ConditionReady).Message)
	assert.Empty(t, w.status("componentStatus", "componentMessages"))
}
