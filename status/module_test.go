package status_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestModules holds the module to its promise: importing it brings in what
// apimachinery needs and nothing else.
func TestModules(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./...")
	output, err := command.Output()
	require.NoError(t, err)
	modules := strings.Fields(string(output))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	require.Contains(t, modules, "github.com/operkit/operkit/status")
	require.Contains(t, modules, "k8s.io/apimachinery")
	assert.LessOrEqual(t, len(modules), 19, "%v", modules)
	for _, unwanted := range []string{"k8s.io/api", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/stretchr/testify"} {
		assert.NotContains(t, modules, unwanted)
	}
}
