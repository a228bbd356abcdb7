package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shops = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}

// shop has a front that waits until the store is ready.
type shop struct{}

func (shop) Kind() schema.GroupVersionKind { return shops }

func (shop) Setup(_ context.Context, s *reconcile.Session) error {
	store := s.Add("store", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "store"}, "spec": map[string]any{"replicas": 1},
	})
	s.Add("front", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "front"}}).After(store, reconcile.Ready)
	return nil
}

// planned returns what a plan of a new shop prints, as a table and as a document.
func planned(t *testing.T, options ...reconcile.PlanOption) (string, any) {
	t.Helper()
	tea := &unstructured.Unstructured{}
	tea.SetGroupVersionKind(shops)
	tea.SetNamespace("market")
	tea.SetName("tea")
	cluster, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(tea))
	require.NoError(t, err)
	manager, err := deploy.NewManager(cluster)
	require.NoError(t, err)
	reconciler, err := reconcile.New(shop{}, manager)
	require.NoError(t, err)
	stored, err := cluster.View().Get(t.Context(), deploy.RefOf(tea))
	require.NoError(t, err)
	plan, err := reconciler.Plan(t.Context(), stored, options...)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, plans{plan}.table(&out))
	return out.String(), plans{plan}.document()
}

func TestDiffOfAComponentThatWaits(t *testing.T) {
	t.Parallel()
	table, document := planned(t)
	assert.Contains(t, table, "+++ Deployment market/store (applied)\n")
	assert.True(t, strings.HasSuffix(table, "\n# Shop market/tea: component front isn't compared: it waits for store (its gate is closed)\n"), table)
	assert.NotContains(t, table, "ConfigMap")
	list, ok := document.([]plannedChange)
	require.True(t, ok)
	assert.Equal(t, plannedChange{Resource: "Shop market/tea", Component: "front", Waits: "waits for store (its gate is closed)"}, list[len(list)-1])

	table, _ = planned(t, reconcile.OpenGates())
	assert.Contains(t, table, "+++ ConfigMap market/front (applied)\n")
	assert.NotContains(t, table, "# Shop")
}
