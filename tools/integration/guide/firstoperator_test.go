package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/operkit/operkit/tools/integration/internal/publishing"
)

// TestFirstOperator does in an empty folder what the page says, with modules of this working tree as if they were released, and looks
// whether the project has the code that the page shows.
func TestFirstOperator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	published, err := publishing.Publish(t.Context(), root, t.TempDir())
	require.NoError(t, err)
	binary, err := devcluster.Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	t.Cleanup(func() { // what a failed walk leaves
		_, _ = exec.Command(binary, "down", "--dir", filepath.Join(dir, "guestbook-operator", ".cluster")).CombinedOutput()
	})
	environment := append(published.Env, devcluster.BinaryVariable+"="+binary)
	output, err := run(t, dir, environment, script(commands(t, "first-operator.md")))
	require.NoError(t, err, output)
	t.Log(output)

	content, err := os.ReadFile(filepath.Join(dir, "guestbook-operator/internal/guestbook/controller.go"))
	require.NoError(t, err)
	blocks := strings.Split(page(t, "first-operator.md"), "```go\n")[1:]
	require.Len(t, blocks, 2)
	setup, _, _ := strings.Cut(blocks[0], "```")
	added, _, _ := strings.Cut(blocks[1], "```")
	assert.Contains(t, string(content), added)
	assert.Contains(t, strings.Replace(string(content), added, "", 1), setup, "Setup is as the page shows it, but for the line that was added")
}
