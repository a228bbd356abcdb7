package full_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/vcs"
	"github.com/stretchr/testify/require"
)

// release makes a repository with tags, each of which says in the file text which it is.
func release(t *testing.T, path string, tags ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(path, 0o755))
	git := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", path, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git("init", "-q")
	for _, tag := range tags {
		require.NoError(t, os.WriteFile(filepath.Join(path, "text"), []byte("this is "+tag), 0o644))
		git("add", "text")
		git("commit", "-q", "-m", tag)
		git("tag", tag)
	}
}

// cacheFolder is where versions are checked out. What is in it is read-only, so nothing else could remove it.
func cacheFolder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cache")
	t.Cleanup(func() {
		_, err := vcs.Prune(context.Background(), path, func(string) bool { return false })
		require.NoError(t, err)
	})
	return path
}
