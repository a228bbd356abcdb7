package vcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	r := g.open()
	for _, method := range []Method{Worktree, Clone} {
		for _, row := range []struct {
			reason string
			change func(path string) error
			want   string
		}{
			{"as it was", func(string) error { return nil }, ""},
			{"another content", func(path string) error { return os.WriteFile(filepath.Join(path, "README.md"), []byte("ONE\n"), 0o644) }, "README.md has another content"},
			{"a file less", func(path string) error { return os.Remove(filepath.Join(path, "deep", "er", "crlf.txt")) }, "deep/er/crlf.txt is missing"},
			{"a file more", func(path string) error { return os.WriteFile(filepath.Join(path, "deep", "new"), nil, 0o644) }, "deep/new isn't part of the commit"},
			{"other rights", func(path string) error { return os.Chmod(filepath.Join(path, "bin", "run"), 0o644) }, "bin/run has other permissions"},
			{"another link", func(path string) error {
				link := filepath.Join(path, "bin", "readme")
				return errors.Join(os.Remove(link), os.Symlink("run", link))
			}, "bin/readme has another target"},
			{"a file for a link", func(path string) error {
				link := filepath.Join(path, "bin", "readme")
				return errors.Join(os.Remove(link), os.WriteFile(link, nil, 0o644))
			}, "bin/readme isn't a link"},
			{"a file for a folder", func(path string) error {
				return errors.Join(os.RemoveAll(filepath.Join(path, "deep")), os.WriteFile(filepath.Join(path, "deep"), nil, 0o644))
			}, "deep isn't a folder"},
			{"a folder for a file", func(path string) error {
				name := filepath.Join(path, "README.md")
				return errors.Join(os.Remove(name), os.Mkdir(name, 0o755))
			}, "README.md isn't a file"},
			{"much", func(path string) error {
				var errs []error
				for i := range 20 {
					errs = append(errs, os.WriteFile(filepath.Join(path, fmt.Sprint("x", i)), nil, 0o644))
				}
				return errors.Join(errs...)
			}, "and 10 more"},
		} {
			t.Run(string(method)+": "+row.reason, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "one")
				_, err := r.Checkout(t.Context(), "1.0.0", path, method)
				require.NoError(t, err)
				require.NoError(t, row.change(path))
				err = r.Verify(t.Context(), path)
				if row.want == "" {
					require.NoError(t, err)
					return
				}
				var config *ConfigError
				require.True(t, errors.As(err, &config), "%v", err)
				assert.ErrorContains(t, err, row.want)
			})
		}
	}
	assert.ErrorContains(t, r.Verify(t.Context(), t.TempDir()), "there is no checkout yet")
}

func TestVerifyOfDeepFolders(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	tree := g.putTree(item{"100644", "a", g.put("blob", []byte("mine\n"))})
	deepest := ""
	for range maxDepth + 10 {
		tree = g.putTree(item{"40000", "d", tree})
		deepest = filepath.Join(deepest, "d")
	}
	g.ref("1.0.0", g.put("commit", []byte("tree "+tree+"\n"+committer+"\nx\n")))
	r := g.open()
	path := filepath.Join(t.TempDir(), "one")
	_, err := r.Checkout(t.Context(), "1.0.0", path, Worktree, Within(Limits{Depth: 2 * maxDepth}))
	require.NoError(t, err)
	require.NoError(t, r.Verify(t.Context(), path), "what could be checked out can be verified")
	require.NoError(t, os.WriteFile(filepath.Join(path, deepest, "a"), []byte("yours\n"), 0o644))
	assert.ErrorContains(t, r.Verify(t.Context(), path), "d/a has another content")
}

// TestVerifyFails has something else be wrong than the folder: who removes folders that differ may not remove this one.
func TestVerifyFails(t *testing.T) {
	t.Parallel()
	var config *ConfigError
	g, first, _ := released(t)
	path := filepath.Join(t.TempDir(), "one")
	_, err := g.open().Checkout(t.Context(), "1.0.0", path, Worktree)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	shutdown := errors.New("the program ends")
	cancel(shutdown)
	assert.Equal(t, shutdown, g.open().Verify(ctx, path), "ctx has ended")
	for _, id := range []string{g.git("rev-parse", "1.0.0:bin"), string(first)} {
		require.NoError(t, os.Remove(filepath.Join(g.dir, ".git", "objects", id[:2], id[2:])))
		err = g.open().Verify(t.Context(), path)
		var failed *RuntimeError
		require.True(t, errors.As(err, &failed), "%v", err)
		assert.False(t, errors.As(err, &config), "the source lacks an object")
		assert.ErrorContains(t, err, id+": object not found: the repository "+g.dir+" is broken")
	}
}
