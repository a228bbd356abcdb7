package versions_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// send sends a signal to one process.
func send(t testing.TB, pid int, which syscall.Signal) {
	t.Helper()
	require.Greater(t, pid, 1)
	require.NoError(t, syscall.Kill(pid, which))
}

// A version that is told to end does so at once, and what it was about is tried again.
func TestTerminated(t *testing.T) {
	t.Parallel()
	pool := start(t, folder(t, "lab", "1.0.0"))
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", waiting("l", "1.0.0")))
	ended := make(chan error, 1)
	go func() {
		_, err := w.reconcile(t.Context(), "l")
		ended <- err
	}()
	soon(t, func() bool { return pool.Report()[0].InUse == 1 }, "it is used")
	before := time.Now()
	send(t, pool.Report()[0].PID, syscall.SIGTERM)
	err := <-ended
	require.ErrorContains(t, err, "version 1.0.0: its process has ended")
	assert.True(t, request.Resolve(err).Passing)
	assert.Less(t, time.Since(before), 1500*time.Millisecond, "it doesn't wait for anything")
	w.put(t, configMap("bell", nil))
	require.NoError(t, w.persist(t.Context(), "l"))
}

// One that is frozen holds nobody up for longer than they want to wait, nor Close.
func TestFrozen(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0")
	options.StopTimeout = 200 * time.Millisecond
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "1.0.0"}))
	pid := pool.Report()[0].PID
	send(t, pid, syscall.SIGSTOP)
	tried := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := w.reconcile(ctx, "l")
		return err
	}
	soon(t, func() bool { return tried() != nil }, "it is frozen: each of its threads has to hear of that")
	for range 3 {
		require.ErrorIs(t, tried(), context.DeadlineExceeded)
	}
	assert.Zero(t, pool.Report()[0].InUse)
	before := time.Now()
	pool.Close()
	assert.Less(t, time.Since(before), 10*time.Second)
	assert.False(t, runs(t, pid))
}

func init() {
	programs["manager"] = func(ctx context.Context, _ string) error {
		pool, err := versions.Start(ctx, versions.Options{
			Directory: os.Getenv("VERSIONS"), Entry: "bin/lab", Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		fmt.Println(pool.Report()[0].PID)
		_, _ = io.Copy(io.Discard, os.Stdin)
		pool.Close()
		return nil
	}
}

// A version ends with its manager, however that does.
func TestManagerThatIsKilled(t *testing.T) {
	t.Parallel()
	program := filepath.Join(folder(t, "manager", "any").Directory, "any", "bin", "manager")
	command := exec.Command(program, "serve-version")
	command.Env = append(os.Environ(), "VERSIONS="+folder(t, "lab", "1.0.0").Directory)
	_, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	var pid int
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscan(line, &pid)
	require.NoError(t, err)
	require.True(t, runs(t, pid))
	kill(t, command.Process.Pid)
	require.Error(t, command.Wait())
	soon(t, func() bool { return !runs(t, pid) }, "it ends by itself")
}
