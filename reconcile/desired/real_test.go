package desired_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var catHousesDefinition = definitionOf("CatHouse")

// TestBothPorts runs one story in memory and on a real API server: the same writes.
func TestBothPorts(t *testing.T) {
	t.Run("desired 17: in memory", func(t *testing.T) {
		t.Parallel()
		story(t)
	})
	t.Run("desired 17: on the API server", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		for name, definition := range map[string]string{"catsets.yaml": catSetsDefinition, "cathouses.yaml": catHousesDefinition} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(definition), 0o600))
		}
		env := envtest.Start(t, envtest.CRDs(folder))
		c, err := cluster.New(t.Context(), env.Config, cluster.Namespaces(env.Namespace))
		require.NoError(t, err)
		story(t, reconciletest.On(c, 0), reconciletest.Namespace(env.Namespace))
	})
}

// story rolls two houses, of which one isn't healthy, adopts an orphan, and takes all down.
func story(t *testing.T, options ...reconciletest.Option) {
	t.Helper()
	keep := func(r desired.Request[desired.Unstructured]) (kept []any) {
		for _, one := range r.Children.Of(catHouses) {
			kept = append(kept, one)
		}
		return kept
	}
	h := reconciletest.Drive(t, desired.New(catSets, all{teardown{keep: keep}},
		desired.Child(catHouses, desired.RollingRecreate, desired.Healthy("Fed", metav1.ConditionTrue)), desired.Child(configMaps, desired.InPlace)), options...)
	fed := func(name string) {
		h.SetStatus("CatHouse "+name, map[string]any{"conditions": []any{map[string]any{"type": "Fed", "status": "True", "reason": "A"}}})
	}
	orphan := configMap("food", "k=theirs")
	orphan["metadata"].(map[string]any)["labels"] = map[string]any{"cat": "tom"}
	h.Apply(orphan)
	p := parent(house("a", 1), house("b", 1), configMap("food", "k=1"))
	p.SetLabels(map[string]string{"adopts": "tom"})
	h.Apply(p)
	h.RunUntilSettled()
	h.Created("CatHouse a", "CatHouse b")
	h.Configured("ConfigMap food")
	assert.Equal(t, int64(3), statusOf(h)["children"])
	fed("a")
	fed("b")
	want(h, house("a", 2), house("b", 2), configMap("food", "k=1"))
	h.RunUntilSettled()
	h.Created("CatHouse a")
	assert.Equal(t, int64(1), h.Get("CatHouse b").Object["spec"].(map[string]any)["size"], "a isn't fed")
	fed("a")
	h.RunUntilSettled()
	h.Created("CatHouse b")
	h.RunUntilSettled()
	h.Writes(0)
	h.Delete("CatSet tom")
	h.RunUntilSettled()
	h.Deleted("ConfigMap food")
	h.Exists("CatHouse a", "CatHouse b")
	h.Edit("CatSet tom", func(p *unstructured.Unstructured) { p.SetAnnotations(map[string]string{"free": "true"}) })
	h.RunUntilSettled()
	h.Gone("CatSet tom")
}

// all adopts, too.
type all struct{ teardown }

// Adopts implements desired.Adopter.
func (all) Adopts(ctx context.Context, p *desired.Unstructured) (*metav1.LabelSelector, error) {
	return adopter{}.Adopts(ctx, p)
}
