package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChildOutlivesTheThreadThatAsked: the parent death signal comes when the thread that forked
// ends, so the fork must not be done by a thread that may end.
func TestChildOutlivesTheThreadThatAsked(t *testing.T) {
	t.Parallel()
	spawner := newSpawner(t)
	var p *Process
	thread := onDyingThread(func() { p = shell(t, spawner, "exec sleep 1000") })
	task := filepath.Join("/proc/self/task", strconv.Itoa(thread))
	require.Eventually(t, func() bool {
		_, err := os.Stat(task)
		return os.IsNotExist(err)
	}, patience, time.Millisecond, "the thread ends")
	p.Kill()
	assert.Equal(t, "signal: killed", p.Outcome(), "the first signal that it got was not that of the thread's end")
}

// onDyingThread runs f on a thread that ends with it, and returns the thread's id. The first thread
// of a process never ends, so it is not taken.
func onDyingThread(f func()) int {
	thread := make(chan int)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		if syscall.Gettid() == syscall.Getpid() {
			thread <- onDyingThread(f)
			return
		}
		f()
		thread <- syscall.Gettid()
	}()
	return <-thread
}

func TestSpawnerSetsTheParentDeathSignal(t *testing.T) {
	t.Parallel()
	spawner := newSpawner(t)
	cmd := exec.Command("/bin/sh", "-c", "exit 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, spawner.Start(cmd, syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	assert.Equal(t, syscall.SIGTERM, cmd.SysProcAttr.Pdeathsig)
	assert.True(t, cmd.SysProcAttr.Setpgid, "the other attributes stay")
}
