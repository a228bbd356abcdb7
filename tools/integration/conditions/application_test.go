package conditions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
)

// The status of an application is written as it goes through a rollout. After each step those who judge by conditions
// come to the verdict that the step means.
func TestApplication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, step := range []struct {
		reason   string
		verdicts func(current map[string]any) (status.ReadyVerdict, status.UpdatingVerdict)
		want     readiness.State
		met      map[string]bool // what kubectl says of these conditions
	}{
		{
			"the first rollout starts", func(current map[string]any) (status.ReadyVerdict, status.UpdatingVerdict) {
				return status.ForStart(current, "1.0.0")
			},
			readiness.InProgress, map[string]bool{"Ready": false, "Ready=False": true, "Reconciling": true},
		},
		{
			"the configuration is wrong", func(map[string]any) (status.ReadyVerdict, status.UpdatingVerdict) {
				return status.ForError(status.ErrorConfig, "size: too small")
			},
			readiness.Failed, map[string]bool{"Ready": false, "Stalled": true},
		},
		{
			"not everything is verified", func(current map[string]any) (status.ReadyVerdict, status.UpdatingVerdict) {
				return status.ForEnd(current, false)
			},
			readiness.InProgress, map[string]bool{"Ready": false, "Updating": true, "Stalled": false},
		},
		{
			"everything is", func(current map[string]any) (status.ReadyVerdict, status.UpdatingVerdict) {
				return status.ForEnd(current, true)
			},
			readiness.Ready, map[string]bool{"Ready": true, "Updating": false, "Stalled": false, "Reconciling": false},
		},
	} {
		widget := w.get(t)
		current, _ := widget.Object["status"].(map[string]any)
		ready, updating := step.verdicts(current)
		application := status.Application{Ready: ready, Updating: updating, Generation: widget.GetGeneration(), Kind: "Widget"}
		next, changed, err := application.Update(time.Now(), current)
		require.NoError(t, err, step.reason)
		require.True(t, changed, step.reason)
		w.send(t, status.MergePatch, map[string]any{"status": next})

		result := readiness.Of(w.get(t))
		assert.Equal(t, step.want, result.State, "%s: %v", step.reason, result)
		for condition, want := range step.met {
			assert.Equal(t, want, w.says(t, condition), "%s: kubectl wait --for=condition=%s", step.reason, condition)
		}
	}
}
