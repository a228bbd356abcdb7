package vcs

import (
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
			{"a file more", func(path string) error { return os.WriteFile(filepath.Join(path, "deep", "new"), nil, 0o644) }, "deep/new is no part of it"},
			{"other rights", func(path string) error { return os.Chmod(filepath.Join(path, "bin", "run"), 0o644) }, "bin/run has other rights"},
			{"another link", func(path string) error {
				link := filepath.Join(path, "bin", "readme")
				return errors.Join(os.Remove(link), os.Symlink("run", link))
			}, "bin/readme leads elsewhere"},
			{"a file for a link", func(path string) error {
				link := filepath.Join(path, "bin", "readme")
				return errors.Join(os.Remove(link), os.WriteFile(link, nil, 0o644))
			}, "bin/readme is no link"},
			{"a file for a folder", func(path string) error {
				return errors.Join(os.RemoveAll(filepath.Join(path, "deep")), os.WriteFile(filepath.Join(path, "deep"), nil, 0o644))
			}, "deep is no folder"},
			{"a folder for a file", func(path string) error {
				name := filepath.Join(path, "README.md")
				return errors.Join(os.Remove(name), os.Mkdir(name, 0o755))
			}, "README.md is no file"},
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
	assert.ErrorContains(t, r.Verify(t.Context(), t.TempDir()), "there is nothing yet")
}

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
	half := filepath.Join(base, temporary("x")+"ABC")
	require.NoError(t, os.Mkdir(half, 0o755))
	theirs := filepath.Join(base, "theirs")
	require.NoError(t, os.Mkdir(theirs, 0o755))
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
