package vcs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrune(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base := t.TempDir()
	paths := map[string]string{}
	for _, name := range []string{"kept", "gone", "locked", "deep/gone"} {
		paths[name] = filepath.Join(base, name)
		_, err := r.Checkout(t.Context(), "1.0.0", paths[name], Worktree, ReadOnly())
		require.NoError(t, err)
		t.Cleanup(func() { _ = removeAll(paths[name]) })
	}
	half := filepath.Join(base, temporary("x")+"ABCDEFGHIJKL")
	require.NoError(t, os.Mkdir(half, 0o755))
	theirs := filepath.Join(base, "theirs")
	require.NoError(t, os.Mkdir(theirs, 0), "nobody but root may read it")
	unlock, err := tryLock(lockOf(paths["locked"]))
	require.NoError(t, err)
	inUse := func(path string) bool { return path == paths["kept"] }
	removed, err := Prune(t.Context(), base, inUse)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{paths["gone"], paths["deep/gone"], half}, removed, "vcs W18")
	assert.DirExists(t, paths["kept"])
	assert.DirExists(t, paths["locked"], "somebody works on it")
	assert.DirExists(t, theirs, "what is no checkout is nobody's business")
	assert.NoFileExists(t, lockOf(paths["gone"]))
	unlock()
	removed, err = Prune(t.Context(), base, inUse)
	require.NoError(t, err)
	assert.Equal(t, []string{paths["locked"]}, removed)
	_, err = r.Checkout(t.Context(), "1.1.0", paths["gone"], Worktree)
	require.NoError(t, err, "its place is free again")
	removed, err = Prune(t.Context(), filepath.Join(base, "nowhere"), inUse)
	require.NoError(t, err)
	assert.Empty(t, removed)
}

// nothing is what nobody uses.
func nothing(string) bool { return false }

func TestPruneBelowALink(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(base, link))
	for _, name := range []string{"kept", "gone"} {
		_, err := r.Checkout(t.Context(), "1.0.0", filepath.Join(base, name), Worktree)
		require.NoError(t, err)
	}
	removed, err := Prune(t.Context(), link, func(path string) bool { return path == filepath.Join(link, "kept") })
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(link, "gone")}, removed, "by the names that whoever asks knows them by")
	assert.DirExists(t, filepath.Join(base, "kept"))
	assert.NoDirExists(t, filepath.Join(base, "gone"))
	for _, path := range []string{filepath.Join(base, "kept"), filepath.Join(base, temporary("x")+"ABCDEFGHIJKL")} {
		require.NoError(t, os.MkdirAll(path, 0o755))
		removed, err = Prune(t.Context(), path, nothing)
		require.NoError(t, err)
		assert.Empty(t, removed, "the base isn't below itself")
		assert.DirExists(t, path)
	}
}

// TestPrunesTogether has several be at work on the same folder, as replicas of one machine are.
func TestPrunesTogether(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	base := t.TempDir()
	var want, removed []string
	for i := range 30 {
		want = append(want, filepath.Join(base, fmt.Sprint(i)))
		_, err := r.Checkout(t.Context(), "1.0.0", want[i], Worktree)
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 8 {
		all.Go(func() {
			gone, err := Prune(t.Context(), base, nothing)
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			removed = append(removed, gone...)
		})
	}
	all.Wait()
	assert.ElementsMatch(t, want, removed, "each is removed by one of them")
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Empty(t, entries, "neither a half nor a lock is left")
}

func TestPruneOfWhatIsGone(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	path := filepath.Join(base, "one")
	for reason, folder := range map[string]string{"a checkout": path, "one that wasn't finished": beside(path), "in a folder that is gone, too": filepath.Join(base, "deep", "one")} {
		of := path
		if filepath.Dir(folder) != base {
			of = folder
		}
		gone, err := prune(of, folder)
		require.NoError(t, err, reason)
		assert.False(t, gone, "%s: somebody else has removed it", reason)
	}
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Empty(t, entries, "no lock is left")
}

func TestPruneGoesOn(t *testing.T) {
	t.Parallel()
	t.Run("past what can't be read", func(t *testing.T) {
		t.Parallel()
		for _, row := range []struct {
			reason string
			path   string
			err    error
			failed bool
			stops  bool
		}{
			{reason: "somebody has removed it", path: "/base/gone", err: syscall.ENOENT},
			{reason: "it is somebody else's", path: "/base/lost+found", err: syscall.EACCES},
			{reason: "its disk is broken", path: "/base/broken", err: syscall.EIO, failed: true},
			{reason: "the base itself", path: "/base/.", err: syscall.EACCES, stops: true},
		} {
			p := &pruner{base: "/base/."}
			err := p.visit(row.path, nil, &fs.PathError{Op: "open", Path: row.path, Err: row.err})
			assert.Equal(t, row.stops, err != nil, row.reason)
			assert.Equal(t, row.failed, len(p.failed) > 0, row.reason)
		}
	})
	t.Run("past what can't be removed", func(t *testing.T) {
		t.Parallel()
		g, _, _ := released(t)
		base := t.TempDir()
		first, second := filepath.Join(base, "1"), filepath.Join(base, "2")
		for _, path := range []string{first, second} {
			_, err := g.open().Checkout(t.Context(), "1.0.0", path, Worktree)
			require.NoError(t, err)
		}
		require.NoError(t, os.Remove(lockOf(first)))
		require.NoError(t, os.Mkdir(lockOf(first), 0o755), "its lock can't be taken")
		removed, err := Prune(t.Context(), base, nothing)
		var failed *RuntimeError
		require.True(t, errors.As(err, &failed), "%v", err)
		assert.Equal(t, first, failed.Subject)
		assert.Equal(t, []string{second}, removed)
	})
}
