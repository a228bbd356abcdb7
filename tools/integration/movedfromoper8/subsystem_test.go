package movedfromoper8

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/status"
)

// testSubsystem has the operator of a child be in the middle of an upgrade: the child's status says Ready, of the
// version before.
func testSubsystem(t *testing.T) {
	w := newWorld(t)
	w.CreateYAML("{apiVersion: " + loaves.GroupVersion().String() + ", kind: Loaf, metadata: {name: whole}}")
	plates := false // a resource without any status is ready, so the child is there first
	setup := func(_ context.Context, s *reconcile.Session) error {
		child := s.Add("slice", map[string]any{
			"apiVersion": loaves.GroupVersion().String(), "kind": "Loaf", "metadata": map[string]any{"name": "slice"},
			"spec": map[string]any{"version": "2.0"},
		})
		if plates {
			s.Add("plate", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "plate"}}).After(child, reconcile.Ready)
		}
		return nil
	}
	report := func(version string) {
		w.MergeSubresource(loaves, "slice", "status", `{"status": {"versions": {"reconciled": "`+version+`"}, "conditions": [
			{"type": "Ready", "status": "True", "reason": "Stable", "message": "all is well", "lastTransactionTime": "2026-01-01T00:00:00"},
			{"type": "Updating", "status": "False", "reason": "Stable", "message": "all is well", "lastTransactionTime": "2026-01-01T00:00:00"}]}}`)
	}
	plated := func() bool {
		obj, err := w.api.Port().Get(t.Context(), deploy.Ref{Kind: configMaps, Namespace: w.namespace, Name: "plate"})
		return err == nil && obj != nil
	}
	w.reconcile(w.api, "whole", setup)
	report("1.0")
	plates = true
	w.reconcile(w.api, "whole", setup)
	assert.False(t, plated(), "what needs the new version waits for it")
	ready, _ := status.Conditions(w.Get(loaves, "whole")).Get(status.ConditionReady)
	assert.Contains(t, ready.Message, `version "1.0" is reconciled, "2.0" is desired`)
	report("2.0")
	w.reconcile(w.api, "whole", setup)
	assert.True(t, plated())
}
