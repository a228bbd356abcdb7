//go:build unix

package devcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

// stopTimeout is how long a supervisor may take to stop its components before it is killed.
const stopTimeout = 15 * time.Second

// caretaker is a shell script that runs the program and then removes the home. A script does that because this process
// may have ended by then. If the program failed, the home is kept for inspection until the next start on the machine.
const caretaker = `home=$0; "$@" && rm -rf "$home"`

// supervisor is a running `devcluster up --until-eof`. It runs as long as lifeline is open; the system closes lifeline
// when this process ends. No goroutine waits for the supervisor, so that a test's leak detector finds none.
type supervisor struct {
	home     home
	owner    *filelock.Lock
	lifeline *os.File

	mu      sync.Mutex
	pid     int    // process id of the caretaker, which leads a process group; 0 once it has ended
	how     string // how the caretaker ended, once pid is 0
	stopped bool
}

// supervise starts the program. The child processes share the lock owner, so that nobody removes their home if this
// process ends first.
func supervise(home home, owner *filelock.Lock, binary string, args []string) (*supervisor, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }() // the child has its own
	log, err := home.openLog()
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd := exec.Command("/bin/sh", append([]string{"-c", caretaker, string(home), binary}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, log, log
	cmd.ExtraFiles = []*os.File{owner.File()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C signals only the tests; the supervisor ends after them
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s := &supervisor{home: home, owner: owner, lifeline: write, pid: cmd.Process.Pid}
	_ = cmd.Process.Release() // s.ended waits for the process instead
	return s, nil
}

// ended reports whether the supervisor has ended, and how.
func (s *supervisor) ended() (bool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pid == 0 {
		return true, s.how
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(s.pid, &status, syscall.WNOHANG, nil)
	switch {
	case errors.Is(err, syscall.EINTR) || err == nil && pid == 0:
		return false, ""
	case err != nil:
		s.how = err.Error()
	case status.Signaled():
		s.how = "signal: " + status.Signal().String()
	default:
		s.how = fmt.Sprintf("exit status %d", status.ExitStatus())
	}
	s.pid = 0
	return true, s.how
}

// stop ends the supervisor and removes the home. Further calls do nothing.
func (s *supervisor) stop(ctx context.Context) error {
	s.mu.Lock()
	stopped := s.stopped
	s.stopped = true
	s.mu.Unlock()
	if stopped {
		return nil
	}
	closing := s.lifeline.Close()
	deadline := time.Now().Add(stopTimeout)
	var late error
	for {
		if ended, _ := s.ended(); ended {
			break
		}
		if late == nil && (time.Now().After(deadline) || ctx.Err() != nil) {
			late = fmt.Errorf("cluster %s: its supervisor didn't end and was killed\n%s", s.home.cluster(), s.home.tail())
			s.kill()
		}
		time.Sleep(poll)
	}
	return errors.Join(closing, late, s.home.remove(), s.owner.Release())
}

func (s *supervisor) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pid != 0 {
		_ = syscall.Kill(-s.pid, syscall.SIGKILL) // not reaped yet, so no other process has this id
	}
}
