package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestRendered(t *testing.T) {
	t.Parallel()
	op := operator.New("patched-operator")
	op.Control(Cache{})
	for _, row := range []struct {
		reason string
		files  []string
		want   string
	}{
		{"what every cache gets", []string{"--cr", "config/sample.yaml"}, "memory: 64Mi"},
		{"a patch shows what it would do before it does", []string{"--cr", "config/sample.yaml", "--cr", "config/patch.yaml"}, "memory: 256Mi"},
	} {
		var out, log bytes.Buffer
		require.Zero(t, op.Execute(t.Context(), append([]string{"run", "--dry-run"}, row.files...), &out, &log), log.String())
		assert.Contains(t, out.String(), row.want, row.reason)
		assert.Contains(t, out.String(), "# door: Service/menu")
	}
}

// The copy is what is applied with the operator's own definition; it has to be that of the release that is linked.
func TestDefinitionIsTheModules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("config/crd/operkit.dev_temporarypatches.yaml")
	require.NoError(t, err)
	var copied map[string]any
	require.NoError(t, yaml.Unmarshal(text, &copied))
	linked, err := temporarypatch.CRD()
	require.NoError(t, err)
	want, err := yaml.Marshal(linked.Object)
	require.NoError(t, err)
	got, err := yaml.Marshal(copied)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "copy it anew, see the README")
}
