package explore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reporting writes a status whose text the function makes of the present one, if it differs.
func reporting(text func(m *manual, resource *unstructured.Unstructured) string) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		body := text(m, resource)
		if said, _, _ := unstructured.NestedString(resource.Object, "status", "text"); said == body {
			return nil
		}
		return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{"text":%q,%s}}`, body, body))
	}
}

const since = `"reason":"Made","message":"","lastTransitionTime":"2030-01-02T03:04:05Z"`

func TestTruth(t *testing.T) {
	for _, row := range []struct {
		fault string
		text  func(m *manual, resource *unstructured.Unstructured) string
		says  []string
	}{
		{"the observed generation is that of the first one", func(*manual, *unstructured.Unstructured) string {
			return `"observedGeneration":1`
		}, []string{untrue, "status.observedGeneration: it is 1, but metadata.generation is 2"}},
		{"the observed generation of Ready, too", func(*manual, *unstructured.Unstructured) string {
			return `"conditions":[{"type":"Ready","status":"True","observedGeneration":1,` + since + `}]`
		}, []string{untrue, "status.conditions[Ready].observedGeneration: it is 1, but metadata.generation is 2"}},
		{"a condition has no reason", func(*manual, *unstructured.Unstructured) string {
			return `"conditions":[{"type":"Open","status":"True","lastTransitionTime":"2030-01-02T03:04:05Z"}]`
		}, []string{untrue, "status.conditions[Open].reason: it is missing"}},
		{"a condition has no time", func(*manual, *unstructured.Unstructured) string {
			return `"conditions":[{"type":"Open","status":"True","reason":"Made"}]`
		}, []string{untrue, "status.conditions[Open].lastTransitionTime: it is missing"}},
		{"it is Ready and stalled", func(*manual, *unstructured.Unstructured) string {
			return `"conditions":[{"type":"Ready","status":"True",` + since + `},{"type":"Stalled","status":"True",` + since + `}]`
		}, []string{untrue, "is Ready, but the whole status reads as Failed"}},
		{"each edit is a new transition", func(m *manual, resource *unstructured.Unstructured) string {
			at := m.env.Now().Truncate(time.Second).Add(time.Duration(resource.GetGeneration()) * time.Hour).Format(time.RFC3339)
			if said, _, _ := unstructured.NestedString(resource.Object, "status", "text"); resource.GetGeneration() == generationIn(resource) {
				return said
			}
			return fmt.Sprintf(`"observedGeneration":%d,"conditions":[{"type":"Open","status":"True","reason":"Made","lastTransitionTime":%q}]`, resource.GetGeneration(), at)
		}, []string{"lastTransitionTime moves though its status stays", ".status.conditions[Open].lastTransitionTime", "edit Shop.explore.operkit.dev tea"}},
	} {
		t.Run("explore 32: "+row.fault, func(t *testing.T) {
			r := explored(t, manually(then(careful, reporting(row.text))), startDriven, Findings(1))
			require.Len(t, r.findings, 1, stories(r))
			for _, says := range row.says {
				assert.Contains(t, r.findings[0].story(), says)
			}
		})
	}
	t.Run("explore 32: a status that is true", func(t *testing.T) {
		r := explored(t, manually(then(careful, reporting(func(_ *manual, resource *unstructured.Unstructured) string {
			return fmt.Sprintf(`"observedGeneration":%[1]d,"conditions":[
				{"type":"Ready","status":"True","observedGeneration":%[1]d,%[2]s},{"type":"Made","status":"True","observedGeneration":1,%[2]s}]`, resource.GetGeneration(), since)
		}))), startDriven, States(100))
		assert.Empty(t, r.findings, stories(r))
	})
	t.Run("explore 32: it is Ready before its workload", func(t *testing.T) {
		r := explored(t, manually(early), startDriven, Findings(1))
		require.Len(t, r.findings, 1, stories(r))
		assert.Contains(t, r.findings[0].story(), "1. create Shop.explore.operkit.dev tea\n", "also while its workload becomes ready in the end")
	})
}

func generationIn(resource *unstructured.Unstructured) int64 {
	observed, _, _ := unstructured.NestedInt64(resource.Object, "status", "observedGeneration")
	return observed
}
