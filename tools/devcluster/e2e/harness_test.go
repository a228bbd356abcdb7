package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

const (
	// patience is for what takes seconds on an idle machine and much longer on a busy one.
	patience = 2 * time.Minute
	// stopLimit is what a stop may take.
	stopLimit = 5 * time.Second
	interval  = 10 * time.Millisecond
)

// output is a buffer that may be read while a process writes to it.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// program is a running devcluster.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout output
	stderr output
	ended  chan struct{}
}

// start starts devcluster with an open standard input. It is killed at the end of the test.
func start(t *testing.T, prepare func(*exec.Cmd), arguments ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(binary, arguments...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	stdin, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	p.stdin = stdin
	// A process that keeps the output open must not keep the test from ending.
	p.cmd.WaitDelay = stopLimit
	if prepare != nil {
		prepare(p.cmd)
	}
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its outcome is in ProcessState
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// wait waits for the end and returns the exit code, -1 after a signal.
func (p *program) wait(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		p.t.Fatalf("%v still runs after %s\n%s%s", p.cmd.Args, limit, p.stdout.String(), p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// await waits until the program has written text to its standard output.
func (p *program) await(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(p.stdout.String(), text); {
		select {
		case <-p.ended:
			if strings.Contains(p.stdout.String(), text) {
				return
			}
			p.t.Fatalf("%v ended before %q\n%s%s", p.cmd.Args, text, p.stdout.String(), p.stderr.String())
		case <-time.After(interval):
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no %q from %v\n%s%s", text, p.cmd.Args, p.stdout.String(), p.stderr.String())
		}
	}
}

func requireEventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	require.Eventually(t, done, patience, interval, what)
}

// devcluster runs a command line to its end.
func devcluster(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := start(t, nil, arguments...)
	require.NoError(t, p.stdin.Close())
	code = p.wait(patience)
	return code, p.stdout.String(), p.stderr.String()
}

// cluster is one that 'up --until-eof' runs: it ends with the test process, whatever happens.
type cluster struct {
	*program
	dir workdir.Dir
}

func up(t *testing.T, flags ...string) *cluster {
	t.Helper()
	return upIn(t, workdir.Dir(filepath.Join(t.TempDir(), "cluster")), flags...)
}

func upIn(t *testing.T, dir workdir.Dir, flags ...string) *cluster {
	t.Helper()
	arguments := append([]string{"up", "--until-eof", "--dir", string(dir)}, flags...)
	c := &cluster{program: start(t, nil, arguments...), dir: dir}
	t.Cleanup(c.end)
	c.await("ready: ")
	return c
}

// end ends the cluster, in whatever state it is, so that its directory can be removed.
func (c *cluster) end() {
	_ = c.stdin.Close()
	c.wait(stopLimit)
	// Killed by the test, it may have left components that are ending.
	requireFree(c.t, c.dir)
}

// kubectl runs the program's kubectl as the administrator and requires success.
func (c *cluster) kubectl(arguments ...string) string {
	c.t.Helper()
	code, stdout, stderr := devcluster(c.t, append([]string{"kubectl", "--dir", string(c.dir)}, arguments...)...)
	require.Zero(c.t, code, stderr)
	return stdout
}

// apply creates what the manifest says.
func (c *cluster) apply(manifest string) {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), "manifest.yaml")
	require.NoError(c.t, os.WriteFile(path, []byte(manifest), 0o600))
	c.kubectl("apply", "-f", path)
}

func (c *cluster) state() state.State {
	c.t.Helper()
	s, err := state.Read(c.dir.State())
	require.NoError(c.t, err)
	return s
}

// pids are the supervisor and all components.
func pids(s state.State) map[string]int {
	all := map[string]int{"supervisor": s.SupervisorPID}
	for _, c := range s.Components {
		all[string(c.Name)] = c.PID
	}
	return all
}

// requireFree waits until no process holds the directory: it can be removed then.
func requireFree(t *testing.T, dir workdir.Dir) {
	t.Helper()
	require.Eventually(t, func() bool {
		taken, err := dir.Taken()
		return err == nil && !taken
	}, stopLimit, interval, "a process still holds %s", dir)
}

// requireGone checks that within stopLimit no process of the cluster is left, nor its port, nor its
// hold on the directory, and that the state file does not claim otherwise.
func requireGone(t *testing.T, dir workdir.Dir, before state.State) {
	t.Helper()
	require.NotZero(t, before.SupervisorPID)
	var left error
	require.Eventually(t, func() bool {
		left = leftovers(dir, before)
		return left == nil
	}, stopLimit, interval, "%v", &left)
	after, err := state.Read(dir.State())
	require.NoError(t, err)
	require.False(t, after.Ready, "the state file says ready of a cluster that is gone")
}

func leftovers(dir workdir.Dir, before state.State) error {
	for name, pid := range pids(before) {
		if alive(pid) {
			return fmt.Errorf("%s (pid %d) is left", name, pid)
		}
	}
	server, err := url.Parse(before.Server)
	if err != nil {
		return err
	}
	if conn, err := net.Dial("tcp", server.Host); err == nil {
		_ = conn.Close()
		return fmt.Errorf("%s is still served", server.Host)
	}
	taken, err := dir.Taken()
	if err == nil && taken {
		return errors.New("a process still holds the directory")
	}
	return err
}

// alive reports whether a process runs; one that has ended and that nobody has waited for does not.
func alive(pid int) bool {
	if pid == 0 || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, fields, _ := strings.Cut(string(raw), ") ")
	return !strings.HasPrefix(fields, "Z")
}

// decode reads JSON that the program has printed.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	require.NoError(t, json.Unmarshal([]byte(text), &value), text)
	return value
}
