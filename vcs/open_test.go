package vcs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	g, first, _ := released(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	g.git("clone", "-q", "--bare", ".", bare)
	tree := filepath.Join(t.TempDir(), "tree")
	g.git("worktree", "add", "-q", "--detach", tree, "1.0.0")
	packed := filepath.Join(t.TempDir(), "packed")
	g.git("clone", "-q", "--no-local", ".", packed)
	(&gitRepository{t, packed}).git("gc", "-q")
	for reason, path := range map[string]string{
		"vcs 14: one with files": g.dir, "its folder .git": filepath.Join(g.dir, ".git"), "a bare one": bare, "a work tree of another one": tree, "one that is packed": packed,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r, err := Open(path)
			require.NoError(t, err)
			defer func() { require.NoError(t, r.Close()) }()
			assert.Equal(t, path, r.Path())
			commit, err := r.Resolve(t.Context(), "1.0.0")
			require.NoError(t, err)
			assert.Equal(t, first, commit)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	inside := filepath.Join(g.dir, "deep")
	file := filepath.Join(g.dir, "README.md")
	lost := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(lost, ".git"), []byte("gitdir: /nowhere/at/all\n"), 0o600))
	odd := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(odd, ".git"), []byte("nonsense\n"), 0o600))
	half := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(half, ".git"), 0o755))
	tree := filepath.Join(t.TempDir(), "tree")
	g.git("worktree", "add", "-q", "--detach", tree, "1.0.0")
	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.MkdirAll(filepath.Join(moved, "refs"), 0o755))
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "commondir": "../elsewhere\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(moved, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(moved, "objects"), 0o755))
	for _, row := range []struct{ reason, path, want string }{
		{"vcs 14: nothing", "/nowhere/at/all", "open /nowhere/at/all: there is no such folder"},
		{"vcs 14: a file", file, "it isn't a folder"},
		{"vcs 14: no repository", t.TempDir(), "it isn't a git repository"},
		{"vcs W21: a folder inside of one", inside, "it isn't a git repository"},
		{"a work tree whose repository is gone", lost, "names a folder that doesn't exist: /nowhere/at/all"},
		{"a file .git that says nothing", odd, "its file .git names no repository"},
		{"a folder .git with nothing in it", half, "its .git isn't a git repository"},
		{"a work tree that was moved", moved, "elsewhere"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := Open(row.path)
			var config *ConfigError
			require.True(t, errors.As(err, &config), "%v", err)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		config []string
		want   string
	}{
		{"references in a reftable", []string{"core.repositoryformatversion", "1", "extensions.refstorage", "reftable"}, "its references are kept as reftable: convert it"},
		{"sha256", []string{"core.repositoryformatversion", "1", "extensions.objectformat", "sha256"}, "named by sha256"},
		{"a format to come", []string{"core.repositoryformatversion", "2"}, "has version 2"},
		{"an extension to come", []string{"core.repositoryformatversion", "1", "extensions.future", "yes"}, "the unknown extension future"},
		{"what doesn't matter", []string{"core.repositoryformatversion", "1", "extensions.noop", "true", "extensions.objectformat", "sha1"}, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			g, _, _ := released(t)
			for i := 0; i < len(row.config); i += 2 {
				g.git("config", "-f", filepath.Join(g.dir, ".git", "config"), row.config[i], row.config[i+1])
			}
			r, err := Open(g.dir)
			if row.want == "" {
				require.NoError(t, err)
				require.NoError(t, r.Close())
				return
			}
			require.ErrorContains(t, err, row.want)
		})
	}
}
