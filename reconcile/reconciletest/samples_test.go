package reconciletest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestSamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml": "apiVersion: example.dev/v1\nkind: Shop\nmetadata: {name: coffee}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
		"a.yml":  "apiVersion: example.dev/v2\nkind: Shop\nmetadata: {name: tea}\n",
		"c.json": `{"apiVersion": "example.dev/v1", "kind": "Shop", "metadata": {"name": "cake"}}`,
		"d.txt":  "no manifest",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	kind := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	var names []string
	for _, sample := range Samples(t, kind, dir) {
		names = append(names, sample.GetName())
	}
	assert.Equal(t, []string{"tea", "coffee", "cake"}, names, "of any version, in the order of the files")
	assert.Len(t, Samples(t, kind, filepath.Join(dir, "b.yaml"), filepath.Join(dir, "c.json")), 2)

	said := try(t, func(t *trial) { Samples(t, kind.GroupVersion().WithKind("House"), dir) })
	assert.Contains(t, said, "reconciletest: samples: "+dir+" has no object of kind House.example.dev: add one")
	said = try(t, func(t *trial) { Samples(t, kind, filepath.Join(dir, "none")) })
	assert.Contains(t, said, "reconciletest: samples: stat ")
}

func TestObjects(t *testing.T) {
	t.Parallel()
	h := New(t, palace(), Namespace("elsewhere"))
	h.Apply(tea)
	assert.Equal(t, []string{"ConfigMap tea-door", "Secret tea-key", "Deployment tea-store"}, h.Objects("Shop tea"),
		"without those of the disabled component attic")
	h.RunUntilSettled()
	h.Exists(h.Objects("Shop tea")...)

	far := New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
		town := settings("town", nil)
		town["metadata"].(map[string]any)["namespace"] = "towns"
		s.Add("town", town)
		return nil
	}}, With(reconcile.OwnAnywhere()))
	far.Apply(tea)
	assert.Equal(t, []string{"ConfigMap towns/town"}, far.Objects("Shop tea"))
}

// A controller may have nothing to deploy yet: the file of a golden test says so.
func TestGoldenWithoutComponents(t *testing.T) {
	t.Parallel()
	h := New(t, &shop{func(context.Context, *reconcile.Session) error { return nil }})
	h.Apply(tea)
	h.Golden("Shop tea", "bare")
	h.RunUntilSettled()
	h.Ready("Shop tea")
	assert.Empty(t, h.Objects("Shop tea"))
}
