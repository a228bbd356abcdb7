package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCleanKeepsWhatMayBeNeeded(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	now := time.Now()
	program, err := os.ReadFile("/bin/sleep")
	require.NoError(t, err)
	for name, age := range map[string]time.Duration{
		"current": 0, "second": 2 * time.Hour, "third": 3 * time.Hour, "running": 4 * time.Hour, "old": 5 * time.Hour, "older": 9 * time.Hour,
	} {
		path := filepath.Join(cache, name, programName)
		write(t, path, string(program), 0o755)
		require.NoError(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
	}
	write(t, filepath.Join(cache, "lock"), "", 0o600)
	write(t, filepath.Join(cache, "killed", ".devcluster-new"), "half", 0o600)
	running := exec.CommandContext(t.Context(), filepath.Join(cache, "running", programName), "60")
	require.NoError(t, running.Start())

	clean(cache, filepath.Join(cache, "current", programName), now)
	assert.Equal(t, []string{"current", "lock", "running", "second", "third"}, names(t, cache), "the newest three, and what runs")

	require.NoError(t, running.Process.Kill())
	_ = running.Wait() // killed
	clean(cache, filepath.Join(cache, "current", programName), now)
	assert.Equal(t, []string{"current", "lock", "second", "third"}, names(t, cache))
}

func TestCleanKeepsWhatWasAskedForLately(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	now := time.Now()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		write(t, filepath.Join(cache, name, programName), "", 0o755)
		require.NotEmpty(t, usable(filepath.Join(cache, name, programName), now.Add(-idle+time.Minute)))
	}
	clean(cache, filepath.Join(cache, "a", programName), now)
	assert.Len(t, names(t, cache), 5)
}

func TestUsableIsAProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "text"), "", 0o644)
	assert.Empty(t, usable(filepath.Join(dir, "text"), time.Now()), "not executable")
	assert.Empty(t, usable(dir, time.Now()), "a folder")
	assert.Empty(t, usable(filepath.Join(dir, "absent"), time.Now()))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names
}
