package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// slowFiles and slowBytes are how many files take about a second, and how long each is: nothing of it can be compressed, and git has left it loose.
	slowFiles, slowBytes = 300, 200 << 10
	// patience is how long something is waited for that comes.
	patience = time.Minute
)

// slow is a repository with a tag of so many files, of which to make another one takes long.
func slow(t *testing.T, files int) repository {
	t.Helper()
	g := newRepository(t)
	random := rand.NewChaCha8([32]byte{1})
	content := make([]byte, slowBytes)
	for i := range files {
		_, _ = random.Read(content)
		g.write(fmt.Sprintf("file-%d", i), string(content), 0o644)
	}
	g.git("config", "core.compression", "0")
	g.commit("slow")
	g.git("tag", "1.0.0")
	return g
}

// begun starts the binary, and stops it when it has begun to write beside the destination.
func begun(t *testing.T, destination string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.Command(program, append([]string{"-d", destination}, args...)...)
	command.Stderr = &stderr
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	half := filepath.Join(filepath.Dir(destination), "."+filepath.Base(destination)+".tmp-*", ".git", "objects", "pack", "tmp_pack_*")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ; ; time.Sleep(time.Millisecond) {
		require.NoError(t, ctx.Err(), "it doesn't begin")
		if found, err := filepath.Glob(half); err == nil && len(found) > 0 {
			require.NoError(t, command.Process.Signal(syscall.SIGSTOP))
			return command, &stderr
		}
	}
}

// goOn sends signals to a process that is stopped, and waits for its end.
func goOn(t *testing.T, command *exec.Cmd, signals ...os.Signal) (code int) {
	t.Helper()
	for _, signal := range append(signals, syscall.SIGCONT) {
		require.NoError(t, command.Process.Signal(signal))
	}
	_ = command.Wait() // its exit code says more
	return command.ProcessState.ExitCode()
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	g := slow(t, slowFiles)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			base := t.TempDir()
			fresh, there := filepath.Join(base, "deep", "er", "versions"), filepath.Join(base, "there")
			command, stderr := begun(t, fresh, "-s", g.dir)
			assert.Equal(t, 130, goOn(t, command, signal))
			assert.Contains(t, stderr.String(), "setup-vcs: interrupted: nothing was changed\n")
			assert.Empty(t, names(t, base), "not even the folders above are left")
			require.NoError(t, os.MkdirAll(filepath.Join(there, "theirs"), 0o755))
			command, _ = begun(t, there, "-s", g.dir, "-f")
			assert.Equal(t, 130, goOn(t, command, signal))
			assert.Equal(t, []string{"there"}, names(t, base))
			assert.Equal(t, []string{"theirs"}, names(t, there), "what was there is unharmed")
		})
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	g := slow(t, slowFiles)
	base := t.TempDir()
	path := filepath.Join(base, "versions")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "theirs"), 0o755))
	command, _ := begun(t, path, "-s", g.dir, "-f")
	assert.Equal(t, -1, goOn(t, command, syscall.SIGKILL))
	assert.Equal(t, []string{"theirs"}, names(t, path), "what was there is unharmed")
	done(t, "", "-s", g.dir, "-d", path, "-f")
	assert.Equal(t, []string{"versions"}, names(t, base), "the next one removes what was left")
	assert.Empty(t, repository{t, path}.git("fsck", "--strict", "--full"))
}

func TestContention(t *testing.T) {
	t.Parallel()
	g := slow(t, slowFiles)
	base := t.TempDir()
	path := filepath.Join(base, "versions")
	command, _ := begun(t, path, "-s", g.dir)
	r := run(t, "", "-s", g.dir, "-d", path)
	assert.Equal(t, 4, r.code)
	assert.Contains(t, r.stderr, "setup-vcs: "+path+": somebody else is working on it")
	assert.Equal(t, 0, goOn(t, command), "who was first isn't disturbed")
	assert.Equal(t, []string{"versions"}, names(t, base))
	assert.Empty(t, repository{t, path}.git("fsck", "--strict", "--full"))
}
