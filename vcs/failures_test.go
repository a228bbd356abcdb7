package vcs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fewFiles lets this process open so many files more, and no others, until restore is called or the test ends. Tests that use it are alone.
func fewFiles(t *testing.T, most int) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	var open []*os.File
	restore = sync.OnceFunc(func() {
		assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
		for _, file := range open {
			_ = file.Close() // some are closed
		}
	})
	t.Cleanup(restore)
	// Each has the lowest number that is free: below the last one, which is at the limit, there are no others than these.
	for range most + 1 {
		file, err := os.Open(os.DevNull)
		require.NoError(t, err)
		open = append(open, file)
	}
	limit := before
	setNumber(&limit.Cur, open[most].Fd())
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	for _, file := range open[:most] {
		require.NoError(t, file.Close())
	}
	return restore
}

// setNumber sets a number that has a sign on some systems.
func setNumber[T int64 | uint64](number *T, to uintptr) { *number = T(to) }

// TestOutOfFiles has the system fail: that says nothing of what was asked for. It is alone.
func TestOutOfFiles(t *testing.T) {
	g, first, _ := released(t)
	r := g.open()
	path := filepath.Join(t.TempDir(), "one")
	_, err := r.Checkout(t.Context(), "1.0.0", path, Worktree)
	require.NoError(t, err)
	for _, row := range []struct {
		reason string
		call   func() error
	}{
		{"a tag is looked for", func() error {
			_, err := r.Resolve(t.Context(), "1.0.0")
			return err
		}},
		{"an abbreviation is looked for", func() error {
			_, err := r.Resolve(t.Context(), string(first)[:8])
			return err
		}},
		{"references are listed", func() error {
			_, err := r.Refs(t.Context())
			return err
		}},
		{"a folder is verified", func() error { return r.Verify(t.Context(), path) }},
		{"a folder is looked at", func() error { return wrapped("checkout", path, present(path, first, Worktree)) }},
	} {
		restore := fewFiles(t, 0)
		err := row.call()
		restore()
		requireFromSystem(t, err, row.reason)
	}
	// The references are read by then, and what they point to isn't.
	restore := func() {}
	_, err = r.SupportedVersions(meanwhile{t.Context(), sync.OnceFunc(func() { restore = fewFiles(t, 0) })})
	restore()
	requireFromSystem(t, err, "versions are listed: none is left out")
	assert.ErrorContains(t, err, "refs/heads/feature/x: ", "it says of what")
}

// requireFromSystem requires that there were too many open files, which is nobody's mistake.
func requireFromSystem(t *testing.T, err error, reason string) {
	t.Helper()
	var config *ConfigError
	var failed *RuntimeError
	require.ErrorIs(t, err, syscall.EMFILE, reason)
	require.True(t, errors.As(err, &failed), "%s: %v", reason, err)
	require.False(t, errors.As(err, &config), "%s: %v", reason, err)
}

func TestFromSystem(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		err    error
		want   bool
	}{
		{"no error", nil, false}, {"one of ours", errForeign, false}, {"too many files are open", syscall.EMFILE, true}, {"a disk can't be read", syscall.EIO, true},
		{"it may not be read", syscall.EACCES, true}, {"there is nothing of that name", syscall.ENOENT, false}, {"a name that is too long", syscall.ENAMETOOLONG, false},
		{"a name with a nul", syscall.EINVAL, false}, {"below a file", syscall.ENOTDIR, false}, {"a folder for a file", syscall.EISDIR, false}, {"links in a circle", syscall.ELOOP, false},
	} {
		assert.Equal(t, row.want, fromSystem(row.err), row.reason)
		if row.err != nil {
			assert.Equal(t, row.want, fromSystem(fmt.Errorf("reference x: %w", &os.PathError{Op: "open", Path: "x", Err: row.err})), row.reason)
		}
	}
}

// TestBrokenVersions has references whose objects can't be read: a version may not get lost for that, and what is none keeps no version away.
func TestBrokenVersions(t *testing.T) {
	t.Parallel()
	g, _, _ := released(t)
	broken, missing := strings.Repeat("3", 40), strings.Repeat("4", 40)
	g.putRaw(broken, []byte("this is not compressed"))
	require.NoError(t, os.WriteFile(filepath.Join(g.dir, ".git", "refs", "heads", "wip"), []byte(broken+"\n"), 0o600))
	refs, err := g.open().Refs(t.Context())
	require.NoError(t, err)
	assert.Contains(t, refs, Ref{Kind: Branch, Name: "wip", Full: "refs/heads/wip"}, "it is a reference all the same")
	versions, err := g.open().SupportedVersions(t.Context())
	require.NoError(t, err)
	assert.Len(t, versions, 2, "the others are there")
	for id, want := range map[string]string{broken: "its file is broken", missing: "object not found: the repository"} {
		g.ref("1.2.0", id)
		_, err = g.open().SupportedVersions(t.Context())
		var failed *RuntimeError
		require.True(t, errors.As(err, &failed), "%v", err)
		assert.ErrorContains(t, err, "refs/tags/1.2.0: object "+id)
		assert.ErrorContains(t, err, want)
	}
}
