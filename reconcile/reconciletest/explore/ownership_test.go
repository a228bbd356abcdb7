package explore

import (
	"context"
	"errors"
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

// storing has an object without an owner, which it deletes itself. The finalizer for that may come too late.
func storing(sound bool) reconciling {
	return func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
		stock, err := m.get(ctx, "ConfigMap", "stock", resource)
		if err != nil {
			return err
		}
		create := func() error {
			obj := &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: stock}}")}
			obj.SetNamespace(resource.GetNamespace())
			_, err := m.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: "manual"})
			return err
		}
		hold := func() error { return m.patch(ctx, resource, "", `{"metadata":{"finalizers":["example.dev/stock"]}}`) }
		switch {
		case resource.GetDeletionTimestamp() != nil && stock != nil:
			if err := m.delete(ctx, stock); err != nil {
				return err
			}
			fallthrough
		case resource.GetDeletionTimestamp() != nil:
			return m.patch(ctx, resource, "", `{"metadata":{"finalizers":null}}`)
		case stock != nil:
			return nil
		case sound:
			return errors.Join(hold(), create())
		}
		return errors.Join(create(), hold())
	}
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
		{"explore 53: a finalizer comes too late", storing(false),
			[]string{"a finalizer is added too late", "ConfigMap test/stock: it has no owner, and was created before"}},
		{"explore 54: an event with each reconcile", announcing(false),
			[]string{"an event is recorded again though nothing has changed", "Shop test/tea, event Opened", `explore.Ignore("Event Opened")`}},
	} {
		t.Run(row.fault, func(t *testing.T) {
			r := explored(t, manually(row.reconcile), startDriven, Findings(1))
			require.Len(t, r.findings, 1, stories(r))
			for _, says := range row.says {
				assert.Contains(t, r.findings[0].story(), says)
			}
		})
	}
	t.Run("explore 53: a finalizer comes first", func(t *testing.T) {
		r := explored(t, manually(storing(true)), startDriven, Replay("Shop.explore.operkit.dev tea"))
		assert.Empty(t, r.findings, stories(r))
	})
	for name, r := range map[string]report{
		"an event when something has happened": explored(t, manually(announcing(true)), startDriven, States(60)),
		"it is ignored":                        explored(t, manually(announcing(false)), startDriven, States(60), Ignore("Event Opened")),
	} {
		t.Run("explore 54: "+name, func(t *testing.T) { assert.Empty(t, r.findings, stories(r)) })
	}
}
