package vcs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNamesThatLookAlike has a folder be called as the temporary ones of another one begin.
func TestNamesThatLookAlike(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base := t.TempDir()
	path, other := filepath.Join(base, "web"), filepath.Join(base, "web.tmp-1")
	unlock, err := tryLock(lockOf(other))
	require.NoError(t, err)
	theirs := beside(other)
	for _, folder := range []string{theirs, beside(path), replaced(path)} {
		require.NoError(t, os.Mkdir(folder, 0o755))
	}
	_, err = r.Checkout(t.Context(), "1.0.0", path, Worktree)
	require.NoError(t, err)
	all := func(string) bool { return true }
	removed, err := Prune(t.Context(), base, all)
	require.NoError(t, err)
	assert.Empty(t, removed, "somebody works on it")
	assert.ElementsMatch(t, []string{".web.lock", "web", ".web.tmp-1.lock", filepath.Base(theirs)}, left(t, path), "its own alone are removed")
	unlock()
	removed, err = Prune(t.Context(), base, all)
	require.NoError(t, err)
	assert.Equal(t, []string{theirs}, removed)
	assert.ElementsMatch(t, []string{".web.lock", "web"}, left(t, path), "under its own lock")
}

func TestLongNames(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base := t.TempDir()
	locks := map[string]bool{}
	names := []string{strings.Repeat("ü", maxName/2)}
	for _, length := range []int{maxName - 18, maxName - 17, maxName} {
		for _, end := range []string{"a", "b"} {
			names = append(names, strings.Repeat("x", length-1)+end)
		}
	}
	var paths []string
	for _, name := range names {
		path := filepath.Join(base, name)
		got, err := r.Checkout(t.Context(), "1.0.0", path, Worktree)
		require.NoError(t, err, "%d bytes", len(name))
		paths = append(paths, got.Path)
		assert.True(t, utf8.ValidString(lockOf(path)), "some file systems have no other names")
		assert.FileExists(t, lockOf(path))
		locks[lockOf(path)] = true
		require.NoError(t, os.Mkdir(beside(path), 0o755))
		_, err = sweep(path)
		require.NoError(t, err)
	}
	assert.Len(t, locks, len(names), "each has one of its own")
	removed, err := Prune(t.Context(), base, nothing)
	require.NoError(t, err)
	assert.ElementsMatch(t, paths, removed)
	assert.Empty(t, left(t, paths[0]))
}

// TestReplacesWhatCantBeRemoved lets so few files be open that folders of some depth can't be removed. It is alone.
func TestReplacesWhatCantBeRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one")
	deep := func(path string) error { return os.MkdirAll(filepath.Join(path, "a", "b", "c", "d", "e", "f"), 0o755) }
	require.NoError(t, deep(path))
	before, err := os.Stat(path)
	require.NoError(t, err)
	restore := fewFiles(t, 2)
	for round := range 3 {
		warnings, err := makeBeside(t.Context(), path, true, deep)
		require.NoError(t, err, "the new one is there")
		now, err := os.Stat(path)
		require.NoError(t, err)
		require.False(t, os.SameFile(before, now))
		before = now
		require.Len(t, warnings, round+1, "what is left is in nobody's way")
		require.Contains(t, warnings[round], "can't remove an old folder of one: ")
	}
	restore()
	warnings, err := makeBeside(t.Context(), path, true, deep)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, []string{"one"}, left(t, path), "when it can be removed, it is")
}

// TestSetupReplacesWhatCantBeRemoved is alone, as the one before.
func TestSetupReplacesWhatCantBeRemoved(t *testing.T) {
	g, _, _ := released(t)
	path := filepath.Join(t.TempDir(), "versions")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "a", "b", "c", "d", "e", "f"), 0o755))
	restore := func() {}
	few := sync.OnceFunc(func() { restore = fewFiles(t, 3) })
	report, err := Setup(t.Context(), SetupOptions{Source: g.dir, Destination: path, Force: true, Progress: func(p Progress) {
		if p.Phase == Packing {
			few()
		}
	}})
	restore()
	require.NoError(t, err)
	require.Len(t, report.Warnings, 1)
	assert.Contains(t, report.Warnings[0], "can't remove an old folder of versions: ")
	result := &gitRepository{t, path}
	assert.Empty(t, result.git("fsck", "--strict", "--no-dangling"))
	_, report = g.setup(SetupOptions{Destination: path, Force: true})
	assert.Empty(t, report.Warnings)
	assert.Equal(t, []string{"versions"}, left(t, path))
}

func FuzzFolderNames(f *testing.F) {
	for _, name := range []string{"web", "web.tmp-1", ".web.lock", ".tmp-old", strings.Repeat("x", maxName), strings.Repeat("ü", 120)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return
		}
		path := "/base/" + name
		lock, folder := filepath.Base(lockOf(path)), filepath.Base(beside(path))
		assert.LessOrEqual(t, max(len(lock), len(folder)), maxName)
		for _, one := range []string{folder, filepath.Base(replaced(path))} {
			of, is := temporaryOf(one)
			assert.True(t, is)
			assert.Equal(t, shortened(name), of)
			assert.Equal(t, lockOf(path), lockOf("/base/"+of), "who finds it knows its lock")
		}
		_, is := temporaryOf(lock)
		assert.False(t, is, fmt.Sprintf("%q is a lock", lock))
	})
}
