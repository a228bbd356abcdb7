package filelock_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

// holdVariable makes this test binary hold the lock on the file that it names until its standard input ends.
const holdVariable = "FILELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdVariable); path != "" {
		hold(path)
		return
	}
	goleak.VerifyTestMain(m)
}

func hold(path string) {
	lock, err := filelock.Try(path)
	fmt.Println(lock != nil, err)
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// startHolder starts a process that holds the lock on path; end makes it die without giving the lock back in order.
func startHolder(t *testing.T, path string) (pid int, end func()) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holdVariable+"="+path)
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "true <nil>\n", line)
	ended := false
	end = func() {
		if !ended {
			ended = true
			require.NoError(t, child.Process.Kill())
			_ = stdin.Close()
			_ = child.Wait() // killed: the error is the point
		}
	}
	t.Cleanup(end)
	return child.Process.Pid, end
}

func TestLockIsHeldBetweenProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	pid, end := startHolder(t, path)

	lock, err := filelock.Try(path)
	require.NoError(t, err)
	assert.Nil(t, lock, "another process holds it")
	held, err := filelock.Held(path)
	require.NoError(t, err)
	assert.True(t, held)

	told := make(chan int, 8)
	got := make(chan *filelock.Lock, 1)
	go func() {
		lock, err := filelock.Acquire(t.Context(), path, func(holder int) { told <- holder })
		assert.NoError(t, err)
		got <- lock
	}()
	assert.Equal(t, pid, <-told, "whoever waits is told for whom")
	select {
	case <-got:
		t.Fatal("got a lock that another process holds")
	case <-time.After(200 * time.Millisecond):
	}
	end()
	lock = <-got
	assert.Empty(t, told, "said once")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, strconv.Itoa(os.Getpid())+"\n", string(text))
	require.NoError(t, lock.Release())
	held, err = filelock.Held(path)
	require.NoError(t, err)
	assert.False(t, held)
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Acquire(t.Context(), path, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, first.Release()) }()

	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
	defer cancel()
	lock, err := filelock.Acquire(ctx, path, nil)
	assert.Nil(t, lock)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, path)
}

func TestLockErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "absent", "lock")
	_, err := filelock.Try(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, path)

	held, err := filelock.Held(path)
	require.NoError(t, err, "a file that is not there is held by nobody")
	assert.False(t, held)
}
