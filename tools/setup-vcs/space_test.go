package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small mounts a file system on which hardly anything has room, if this process may.
func small(t *testing.T) (path string, ok bool) {
	t.Helper()
	path = t.TempDir()
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "size=256k"); err != nil {
		return "", false
	}
	// Detached: another test may be about to start a process, which has for a moment whatever is open here.
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(path, syscall.MNT_DETACH)) })
	return path, true
}

// Without room what is there stays, and nothing besides.
func TestNoSpaceLeft(t *testing.T) {
	t.Parallel()
	large, tiny := slow(t, slowFiles/10), released(t)
	type row struct {
		reason, base, want string
		command            []string
	}
	// Files may be so many blocks of 512 or 1024 bytes: what is longer fails as it does on a disk that is full.
	rows := []row{{"files may not be long", t.TempDir(), "file too large", []string{"sh", "-c", `ulimit -f 200 && exec "$0" "$@"`, program}}}
	if path, ok := small(t); ok {
		rows = append(rows, row{"the file system is small", path, "no space left on device", []string{program}})
		r := run(t, "", "-s", tiny.dir, "-d", path)
		assert.Equal(t, 2, r.code)
		assert.Contains(t, r.stderr, "a file system is mounted on it: choose a folder below it")
	}
	for _, row := range rows {
		t.Run(row.reason, func(t *testing.T) {
			there := filepath.Join(row.base, "versions")
			done(t, "", "-s", tiny.dir, "-d", there)
			before := repository{t, there}.git("for-each-ref")
			for _, path := range []string{there, filepath.Join(row.base, "deep", "er", "new")} {
				args := append(row.command, "-s", large.dir, "-d", path, "-f")
				command := exec.Command(args[0], args[1:]...)
				command.Env = os.Environ()
				r := finish(t, command)
				assert.Equal(t, 1, r.code)
				assert.Contains(t, r.stderr, row.want+": free about ")
				assert.Equal(t, []string{"versions"}, names(t, row.base), "nothing is left")
			}
			assert.Equal(t, before, repository{t, there}.git("for-each-ref"))
			assert.Empty(t, repository{t, there}.git("fsck", "--strict", "--full"), "what was there is unharmed")
		})
	}
	require.NotEmpty(t, rows)
}
