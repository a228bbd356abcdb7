package vcs

import (
	"context"
	"os"
	"path/filepath"
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

func TestCloneWhileSomebodyUnshallows(t *testing.T) {
	t.Parallel()
	g, _, second := released(t)
	shallow := &gitRepository{t, filepath.Join(t.TempDir(), "shallow")}
	g.git("clone", "-q", "--depth=1", "file://"+g.dir, shallow.dir)
	clone := shallow.cloneWhile(second, func() { shallow.git("fetch", "-q", "--unshallow") })
	clone.git("fsck", "--strict")
	assert.Equal(t, string(second), clone.git("log", "--format=%H"), "it knows that it has no more commits")
}
