package reconciletest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// palace has a bit of everything: a gate, a disabled component, a value that is generated, one that is looked up.
func palace() *shop {
	return &shop{func(ctx context.Context, s *reconcile.Session) error {
		key, err := s.Generated(ctx, s.ScopedName("key"), "key", func() (string, error) { return "random", nil })
		if err != nil {
			return err
		}
		secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": s.ScopedName("key")}, "stringData": map[string]any{"key": key}}
		store := s.Add("store", secret, workload("Deployment", s.ScopedName("store")))
		found, err := s.Get(ctx, reconcileRef("ConfigMap", s.Namespace(), "town"))
		if err != nil {
			return err
		}
		door := map[string]any{"namespace": s.Namespace()}
		if found != nil {
			door["town"], _, _ = unstructured.NestedString(found.Object, "data", "name")
		}
		s.Add("door", settings(s.ScopedName("door"), door)).After(store, reconcile.Ready)
		s.Add("attic", settings(s.ScopedName("attic"), nil)).Disable()
		s.Add("void")
		return nil
	}}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		options []Option
	}{
		{"before the first rollout", nil},
		{"whatever the namespace", []Option{Namespace("elsewhere")}},
	} {
		t.Run("operator 31: "+row.reason, func(t *testing.T) {
			t.Parallel()
			h := New(t, palace(), row.options...)
			h.Apply(tea, settings("town", map[string]any{"name": "Lima"}))
			h.Golden("Shop tea", "palace")
			h.RunUntilSettled()
			h.Ready("Shop tea")
			h.Golden("Shop tea", "palace")
			h.RunUntilSettled()
			h.Writes(0)
		})
	}
}

func TestGoldenDifference(t *testing.T) {
	t.Parallel()
	said := try(t, func(t *trial) {
		h := New(t, palace())
		h.Apply(tea, settings("town", map[string]any{"name": "Rome"}))
		h.Golden("Shop tea", "palace")
	})
	assert.Contains(t, said, "testdata/palace.yaml: differs from what Shop tea renders now: if that is right, run the test with -update:\n")
	assert.Contains(t, said, "-   town: Lima\n+   town: Rome\n  kind: ConfigMap\n")
	assert.Contains(t, said, "    namespace: test\n- ", "with the lines before")
}

func TestRenderFails(t *testing.T) {
	t.Parallel()
	said := try(t, func(t *trial) {
		h := New(t, &shop{func(context.Context, *reconcile.Session) error { return request.Configuration("spec.size: is odd") }})
		h.Apply(tea)
		h.Render("Shop tea")
	})
	assert.Contains(t, said, "reconciletest: render Shop tea: setup: spec.size: is odd")
}

// Not parallel: it works in another folder.
func TestGoldenUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
	h := New(t, market())
	h.update = func() bool { return true }
	h.Apply(tea)
	h.Golden("Shop tea", filepath.Join("deep", "tea"))
	text, err := os.ReadFile(filepath.Join("testdata", "deep", "tea.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "---\n# component door\napiVersion: v1\ndata:\n  sign: open\nkind: ConfigMap\n")
	h.update = func() bool { return false }
	h.Golden("Shop tea", filepath.Join("deep", "tea"))
	require.NoError(t, os.WriteFile(filepath.Join("testdata", "deep", "tea.yaml"), append([]byte("# by hand\n"), text...), 0o600))
	said := try(t, func(trial *trial) {
		h.t = trial
		h.Golden("Shop tea", filepath.Join("deep", "tea"))
	})
	h.t = t
	assert.Contains(t, said, "- # by hand\n")
	assert.False(t, updating(), "without the flag")
}

func TestRender(t *testing.T) {
	t.Parallel()
	h := New(t, palace(), With(reconcile.NameObjects()))
	h.Apply(tea)
	rendered := h.Render("Shop tea")
	var names []string
	for _, component := range rendered {
		names = append(names, component.Component)
	}
	assert.Equal(t, []string{"attic", "door", "store", "void"}, names)
	assert.True(t, rendered[0].Disabled)
	assert.Equal(t, "door.configmap/tea-door", rendered[1].Objects[0].GetAnnotations()["operkit.dev/internal-name"])
	assert.Equal(t, reconcile.GeneratedPlaceholder, rendered[2].Objects[0].Object["stringData"].(map[string]any)["key"])
	h.Gone("ConfigMap tea-door")
	assert.Empty(t, h.Calls())
	assert.Empty(t, h.Runs())
}

// Objects without a namespace get none, wherever it is known that they have none.
func TestRenderClusterScoped(t *testing.T) {
	t.Parallel()
	regions := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Region"}
	rivers := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "River"}
	controller := Controlling(regions, func(_ context.Context, s *reconcile.Session) error {
		town := settings("town", nil)
		town["metadata"].(map[string]any)["namespace"] = "towns"
		s.Add("town", town)
		s.Add("river", Resource(rivers, "river", nil))
		return nil
	})
	definitions := filepath.Join(t.TempDir(), "crds.yaml")
	var text string
	for kind, plural := range map[string]string{"Region": "regions", "River": "rivers"} {
		text += "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " + plural + ".example.dev}, spec: {group: example.dev, scope: Cluster, names: {kind: " +
			kind + ", plural: " + plural + "}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}\n"
	}
	require.NoError(t, os.WriteFile(definitions, []byte(text), 0o600))
	for reason, option := range map[string]Option{
		"operator 31: by an option":         Memory(dryrun.AnyKind(regions.GroupKind(), rivers.GroupKind())),
		"operator 31: by their definitions": Definitions(definitions),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			h := New(t, controller, option, With(reconcile.OwnAnywhere()))
			h.Apply(Resource(regions, "north", nil))
			var names []string
			for _, component := range h.Render("Region north") {
				names = append(names, deploy.RefOf(component.Objects[0]).String())
			}
			assert.Equal(t, []string{"River river", "ConfigMap towns/town"}, names)
			h.Golden("Region north", "region")
		})
	}
}
