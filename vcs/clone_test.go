package vcs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// meanwhile is a context in which something happens when it is asked whether it has ended.
type meanwhile struct {
	context.Context
	happen func()
}

func (m meanwhile) Err() error {
	m.happen()
	return nil
}

// cloneWhile makes a clone at a commit, without files, while something happens to the repository: when objects are being copied.
func (g *gitRepository) cloneWhile(commit Commit, happen func()) *gitRepository {
	g.t.Helper()
	path := g.t.TempDir()
	root, err := os.OpenRoot(path)
	require.NoError(g.t, err)
	defer func() { require.NoError(g.t, root.Close()) }()
	options, err := newCheckoutOptions(Clone, nil)
	require.NoError(g.t, err)
	r, happened := g.open(), false
	once := sync.OnceFunc(func() {
		happened = true
		happen()
	})
	require.NoError(g.t, r.clone(meanwhile{g.t.Context(), once}, root, commit, &writer{repository: r, options: options}))
	require.True(g.t, happened)
	return &gitRepository{g.t, path}
}

func TestCloneWhileSomebodyPushes(t *testing.T) {
	t.Parallel()
	g, first, second := released(t)
	g.git("gc", "-q") // what is new isn't in the packs that are copied
	clone := g.cloneWhile(first, func() {
		g.write("README.md", "three\n", 0o644)
		g.commit("three")
		g.git("tag", "1.2.0")
	})
	clone.git("fsck", "--strict")
	assert.Equal(t, string(second), clone.git("rev-parse", "main"), "as it was")
	assert.NotContains(t, clone.git("tag"), "1.2.0")
}

// While git receives a push, its objects are in a folder that only the user who pushes may read.
func TestCloneDuringAPush(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	size, err := g.open().size()
	require.NoError(t, err)
	for folder, mode := range map[string]fs.FileMode{"tmp_objdir-incoming-1/ab": 0o755, "tmp_objdir-incoming-2": 0o755, "lost+found": 0, "pack/ab": 0o755} {
		path := filepath.Join(g.dir, ".git", "objects", filepath.FromSlash(folder))
		require.NoError(t, os.MkdirAll(path, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(path, strings.Repeat("1", 38)), []byte("incomplete"), 0o444))
		require.NoError(t, os.Chmod(path, mode))
		t.Cleanup(func() { assert.NoError(t, os.Chmod(path, 0o755)) })
	}
	clone := g.cloneWhile(first, func() {})
	clone.git("fsck", "--strict")
	again, err := g.open().size()
	require.NoError(t, err)
	assert.Equal(t, size, again, "only complete objects count")
}

func TestCloneWhileSomebodyUnshallows(t *testing.T) {
	t.Parallel()
	g, _, second := released(t)
	shallow := &gitRepository{t, filepath.Join(t.TempDir(), "shallow")}
	g.git("clone", "-q", "--depth=1", "file://"+g.dir, shallow.dir)
	clone := shallow.cloneWhile(second, func() { shallow.git("fetch", "-q", "--unshallow") })
	clone.git("fsck", "--strict")
	assert.Equal(t, string(second), clone.git("log", "--format=%H"), "it knows that it has no more commits")
}
