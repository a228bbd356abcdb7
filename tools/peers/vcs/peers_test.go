package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// made makes a repository in a folder of the test.
func made(t *testing.T, f fixture) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "source")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, f.generate(folder))
	return folder
}

// tiny is for tests.
var tiny = fixture{seed: 14, tags: 6, commits: 2, changes: 3, files: 40, bytes: 200 << 10}

// TestPeers checks that both sides do the same work, and that it is noticed when they don't.
func TestPeers(t *testing.T) {
	t.Parallel()
	source := made(t, tiny)
	require.NoError(t, checkSetup(source))
	require.NoError(t, checkCheckout(source, tiny.last()))
	require.NoError(t, checkRefs(source))
	a := map[string]string{"a": "1", "b": "2"}
	require.NoError(t, sameMaps(a, map[string]string{"a": "1", "b": "2"}))
	require.ErrorContains(t, sameMaps(a, map[string]string{"a": "1", "b": "3"}), "b: vcs makes")
	require.ErrorContains(t, sameMaps(a, map[string]string{"a": "1"}), "vcs makes 2")
	other := made(t, small)
	require.ErrorContains(t, sameAnswer(source, other, "for-each-ref"), "says something else")
}

// TestFixture has the same parameters give the same objects, in one pack with differences in it.
func TestFixture(t *testing.T) {
	t.Parallel()
	first, second := made(t, tiny), made(t, tiny)
	require.NoError(t, sameAnswer(first, second, "for-each-ref"))
	other := tiny
	other.seed++
	require.Error(t, sameAnswer(first, made(t, other), "for-each-ref"))
	packs, err := filepath.Glob(filepath.Join(first, ".git", "objects", "pack", "*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	out, err := git(first, "verify-pack", "-v", packs[0])
	require.NoError(t, err)
	assert.Contains(t, out, "chain length = 2")
	out, err = git(first, "ls-tree", "-r", tiny.names()[0])
	require.NoError(t, err)
	assert.Len(t, lines(out), tiny.files)
	out, err = git(first, "tag")
	require.NoError(t, err)
	assert.Len(t, lines(out), tiny.tags)
}

// TestMemory has the process that is measured do what it is measured at.
func TestMemory(t *testing.T) {
	t.Parallel()
	source, program := made(t, tiny), filepath.Join(t.TempDir(), "vcs")
	_, err := output(exec.Command("go", "build", "-buildvcs=false", "-o", program, "."))
	require.NoError(t, err)
	mebibytes, err := setupMemory(program, source)
	require.NoError(t, err)
	assert.Greater(t, mebibytes, 1.0)
	assert.Less(t, mebibytes, 500.0)
}
