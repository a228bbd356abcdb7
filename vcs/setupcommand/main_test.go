package setupcommand

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source is a repository with the tags 1.0.0, v1.1.0 and 1.2.0-rc1, and a branch main.
func source(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "source")
	require.NoError(t, os.Mkdir(path, 0o755))
	for _, line := range []string{
		"init -q -b main", "commit -q --allow-empty -m first", "tag 1.0.0", "commit -q --allow-empty -m second", "tag v1.1.0", "tag 1.2.0-rc1",
	} {
		command := exec.Command("git", append([]string{"-C", path, "-c", "user.name=A", "-c", "user.email=a@example.com"}, strings.Fields(line)...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "git %s: %s", line, out)
	}
	return path
}
