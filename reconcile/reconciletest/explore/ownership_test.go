package explore

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// granting makes a cluster-scoped object that is owned by the resource.
func granting(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if role, err := m.port.Get(ctx, deploy.Ref{Kind: kindOf("ClusterRole"), Name: "till"}); err != nil || role != nil {
		return err
	}
	role := &unstructured.Unstructured{Object: object("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: till}}")}
	role.Object["metadata"].(map[string]any)["ownerReferences"] = []any{ownerOf(resource)}
	_, err := m.port.Create(ctx, role, deploy.CreateOptions{FieldManager: "manual"})
	return err
}

// announcing records an event, in each reconcile or only with a new child.
func announcing(sound bool) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		till, err := m.get(ctx, "ConfigMap", "till", resource)
		if err != nil {
			return err
		}
		if till == nil || !sound {
			m.env.Events.Record(event.Event{Regarding: event.Of(resource), Reason: "Opened", Note: "it is open"})
		}
		return careful(ctx, m, resource)
	}
}

func TestOwnership(t *testing.T) {
	for _, row := range []struct {
		fault     string
		reconcile reconciling
		says      []string
	}{
		{"explore 53: a namespaced owner of a cluster-scoped object", then(careful, granting),
			[]string{lost, "ClusterRole.rbac.authorization.k8s.io till metadata.ownerReferences[tea]: Shop.explore.operkit.dev test/tea is in a namespace"}},
		{"explore 54: an event with each reconcile", announcing(false),
			[]string{"an event is recorded again though nothing has changed", "=> Shop test/tea, event Opened", `explore.Ignore("Event Opened")`}},
	} {
		t.Run(row.fault, func(t *testing.T) {
			r := explored(t, manually(row.reconcile), startDriven, Findings(1))
			require.Len(t, r.findings, 1, stories(r))
			for _, says := range row.says {
				assert.Contains(t, r.findings[0].story(), says)
			}
		})
	}
	for name, r := range map[string]report{
		"an event when something has happened": explored(t, manually(announcing(true)), startDriven, States(60)),
		"it is ignored":                        explored(t, manually(announcing(false)), startDriven, States(60), Ignore("Event Opened")),
	} {
		t.Run("explore 54: "+name, func(t *testing.T) { assert.Empty(t, r.findings, stories(r)) })
	}
}
