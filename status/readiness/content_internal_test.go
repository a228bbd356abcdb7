package readiness

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// contents are parts of objects that make a difference to one row or another.
func contents() []map[string]any {
	var all []map[string]any
	status := func(status map[string]any) { all = append(all, map[string]any{"status": status}) }
	for _, phase := range []string{"Pending", "Failed", "Lost", "Terminating", "Running", "Active", "Bound"} {
		status(map[string]any{"phase": phase})
	}
	for _, conditionType := range []string{"Ready", "Available", "Progressing", "Complete", "Failed", "Established", "DisruptionAllowed", "AbleToScale"} {
		for _, is := range []string{"True", "False"} {
			status(map[string]any{"conditions": []any{map[string]any{"type": conditionType, "status": is, "reason": "SyncFailed"}}})
		}
	}
	status(map[string]any{"replicas": int64(3), "active": []any{map[string]any{"name": "running"}}, "used": map[string]any{"cpu": "9"}})
	one := map[string]any{"observedGeneration": int64(1), "loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "10.0.0.2"}}}}
	for _, count := range []string{
		"replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas", "fullyLabeledReplicas",
		"desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady",
	} {
		one[count] = int64(1)
	}
	var conditions []any
	for _, conditionType := range []string{"Available", "AbleToScale", "ScalingActive"} {
		conditions = append(conditions, map[string]any{"type": conditionType, "status": "True"})
	}
	one["conditions"] = conditions
	return append(all,
		map[string]any{"spec": map[string]any{"replicas": int64(1), "clusterIP": "10.0.0.1"}, "status": one},
		map[string]any{"spec": map[string]any{"replicas": int64(3), "type": "LoadBalancer", "suspend": true}},
		map[string]any{"data": map[string]any{"status": "broken"}, "type": "Opaque"},
	)
}

// TestNeedsContent compares with what is decided, for each row of the table.
func TestNeedsContent(t *testing.T) {
	t.Parallel()
	checker := Checker{IngressNeedsAddress: true, BudgetNeedsHealthy: true}
	for row := range table {
		for _, metadata := range []map[string]any{
			{"name": "a", "generation": int64(1), "labels": map[string]any{"app": "shop"}},
			{"name": "a", "generation": int64(1), "deletionTimestamp": "2026-01-01T00:00:00Z"},
		} {
			bare := map[string]any{"apiVersion": row.group + "/v1", "kind": row.kind, "metadata": metadata}
			if row.group == "" {
				bare["apiVersion"] = "v1"
			}
			differs := false
			for _, content := range contents() {
				whole := maps.Clone(bare)
				maps.Copy(whole, content)
				differs = differs || checker.Of(whole).State != checker.Of(bare).State
				if !checker.NeedsContent(schema.GroupKind{Group: row.group, Kind: row.kind}) {
					assert.Equal(t, checker.Of(bare), checker.Of(whole), "status 25: %s with %v", row.kind, content)
				}
			}
			if metadata["deletionTimestamp"] == nil {
				assert.Equal(t, differs, checker.NeedsContent(schema.GroupKind{Group: row.group, Kind: row.kind}), "status 25: %s", row.kind)
			}
		}
	}
}

func TestNeedsContentOfOthers(t *testing.T) {
	t.Parallel()
	secret := schema.GroupKind{Kind: "Secret"}
	for _, row := range []struct {
		reason   string
		kind     schema.GroupKind
		expected Expectation
		want     bool
	}{
		{"status 26: nobody knows what others say of themselves", schema.GroupKind{Group: "example.dev", Kind: "Secret"}, Expectation{}, true},
		{"status 17: a function may look at anything", secret, Expectation{Func: func(time.Time, map[string]any) Result { return Result{} }}, true},
		{"status 17: so may And", secret, Expectation{And: func(time.Time, map[string]any) Result { return Result{} }}, true},
		{"status 18: a condition is content", secret, Expectation{Condition: &Condition{Type: "Ready"}}, true},
		{"status 21: so is a field", secret, Expectation{Fields: []Field{{Path: ".data.password"}}}, true},
		{"status 22: of a kind with a row a subsystem says nothing", secret, Expectation{Subsystem: &Subsystem{Version: "1"}, SetsReady: true}, false},
	} {
		checker := Checker{Registry: Registry{row.kind: row.expected}}
		assert.Equal(t, row.want, checker.NeedsContent(row.kind), row.reason)
	}
}
