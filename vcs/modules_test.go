package vcs

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxModules is how many modules may be linked by who imports this one, with it.
const maxModules = 25

// TestModules holds what is linked to a few modules, none of which is of Kubernetes.
func TestModules(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	modules := map[string]bool{}
	for _, module := range strings.Fields(string(out)) {
		modules[module] = true
		assert.False(t, strings.HasPrefix(module, "k8s.io/") || strings.HasPrefix(module, "sigs.k8s.io/"), module)
	}
	assert.True(t, modules["github.com/operkit/operkit/vcs"])
	assert.LessOrEqual(t, len(modules), maxModules, "%v", modules)
	t.Logf("%d modules", len(modules))
}

// TestElsewhere builds it for the other systems on which it is to run.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"darwin", "freebsd"} {
		command := exec.Command("go", "build", ".")
		command.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := command.CombinedOutput()
		assert.NoError(t, err, "%s: %s", system, out)
	}
}
