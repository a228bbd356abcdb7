package workdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/devcluster/internal/unixsocket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestResolve(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/home")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	for _, row := range []struct{ reason, given, variable, want string }{
		{"what is given wins", "/given", "/variable", "/given"},
		{"a relative path becomes absolute", "given", "", filepath.Join(here, "given")},
		{"the variable", "", "/variable", "/variable"},
		{"the default", "", "", filepath.Join(cache, "operkit", "clusters", "default")},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Setenv(Environment, row.variable)
			got, err := Resolve(row.given)
			require.NoError(t, err)
			assert.Equal(t, Dir(row.want), got)
		})
	}
}

func TestAcquire(t *testing.T) {
	t.Parallel()
	dir := Dir(filepath.Join(t.TempDir(), "a", "b"))
	taken, err := dir.Taken()
	require.NoError(t, err)
	assert.False(t, taken, "nothing there")

	lock, err := dir.Acquire(t.Context())
	require.NoError(t, err)
	info, err := os.Stat(string(dir))
	require.NoError(t, err)
	assert.Equal(t, fs.ModeDir|0o700, info.Mode())
	taken, err = dir.Taken()
	require.NoError(t, err)
	assert.True(t, taken)

	for _, path := range append(dir.contents(), string(dir)+"/.state-123", dir.PKI("old"), dir.RunFile("old"), dir.SupervisorLog()) {
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			require.DirExists(t, path)
		}
	}
	require.NoError(t, os.Chmod(string(dir), 0o755))
	lock.Release()
	lock, err = dir.Acquire(t.Context())
	require.NoError(t, err)
	defer lock.Release()
	var left []string
	require.NoError(t, filepath.WalkDir(string(dir), func(path string, _ fs.DirEntry, err error) error {
		left = append(left, path)
		return err
	}))
	assert.Equal(t, []string{string(dir), dir.lock(), dir.Logs(), filepath.Dir(dir.PKI("x")), dir.Run()}, left,
		"what an earlier cluster left is gone")
	info, err = os.Stat(string(dir))
	require.NoError(t, err)
	assert.Equal(t, fs.ModeDir|0o700, info.Mode(), "others are shut out again")
}

func TestAcquireRefuses(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "thesis.tex"), []byte("x"), 0o600))
	for _, row := range []struct {
		reason string
		dir    Dir
		err    string
	}{
		{"someone else's files", Dir(foreign), "holds other files (such as thesis.tex)"},
		{"a file in the directory's place", Dir(filepath.Join(foreign, "thesis.tex")), "cannot be made"},
		{"a place where nobody can make one", "/proc/devcluster", "cannot be made"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := row.dir.Acquire(t.Context())
			require.ErrorContains(t, err, row.err)
			assert.ErrorContains(t, err, "cluster directory "+string(row.dir))
			raw, err := os.ReadFile(filepath.Join(foreign, "thesis.tex"))
			require.NoError(t, err)
			assert.Equal(t, "x", string(raw))
		})
	}
}

func TestAcquireWhileAClusterRuns(t *testing.T) {
	t.Parallel()
	dir := Dir(t.TempDir())
	lock, err := dir.Acquire(t.Context())
	require.NoError(t, err)
	defer lock.Release()
	listener, err := unixsocket.Listen(dir.ControlSocket())
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()

	begin := time.Now()
	_, err = dir.Acquire(t.Context())
	var running *RunningError
	require.ErrorAs(t, err, &running)
	assert.Equal(t, dir, running.Dir)
	assert.ErrorContains(t, err, "a cluster runs there already")
	assert.Less(t, time.Since(begin), leftoverPatience, "the socket is served: it does not wait")
}

// TestAcquireWaitsForLeftovers: the supervisor is gone, a child of it that has inherited the lock is
// not yet.
func TestAcquireWaitsForLeftovers(t *testing.T) {
	t.Parallel()
	dir := Dir(t.TempDir())
	lock, err := dir.Acquire(t.Context())
	require.NoError(t, err)
	child := exec.Command("/bin/sh", "-c", "read line; exit 0")
	child.ExtraFiles = []*os.File{lock.File()}
	hold, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	require.NoError(t, lock.File().Close(), "as the kernel does when the supervisor is killed")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = dir.Acquire(ctx)
	require.EqualError(t, err, "cluster directory "+string(dir)+": enough")

	acquired := make(chan error, 1)
	go func() {
		again, err := dir.Acquire(t.Context())
		if err == nil {
			again.Release()
		}
		acquired <- err
	}()
	require.NoError(t, hold.Close())
	require.NoError(t, child.Wait())
	assert.NoError(t, <-acquired)
}
