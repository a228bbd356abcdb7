package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// runProgram runs a program to its end.
func runProgram(t *testing.T, path string, environment []string, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := start(t, func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = path, append([]string{path}, arguments...)
		cmd.Env = append(os.Environ(), environment...)
	})
	require.NoError(t, p.stdin.Close())
	code = p.wait(patience)
	return code, p.stdout.String(), p.stderr.String()
}

func TestExec(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	script := `echo "$KUBECONFIG $OPERKIT_DEVCLUSTER"; cat "$OPERKIT_DEVCLUSTER/state.json"; ` + binary + ` kubectl get nodes -o name >&2; exit 7`
	code, stdout, stderr := runProgram(t, binary, []string{"TMPDIR=" + temporary}, "exec", "--", "sh", "-c", script)
	assert.Equal(t, 7, code, "the command's exit code: %s", stderr)
	first, rest, _ := strings.Cut(stdout, "\n")
	kubeconfig, dir, _ := strings.Cut(first, " ")
	assert.Equal(t, filepath.Join(dir, "kubeconfig"), kubeconfig)
	assert.Equal(t, temporary, filepath.Dir(dir))
	assert.Contains(t, stderr, "node/fake-0\n", "the program finds the cluster by the variable")
	s := decode[state.State](t, rest)
	assert.True(t, s.Ready)
	for name, pid := range pids(s) {
		assert.False(t, alive(pid), name)
	}
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "the temporary directory is gone")
}

func TestExecPassesStandardInputAndSignals(t *testing.T) {
	t.Parallel()
	dir := workdir.Dir(filepath.Join(t.TempDir(), "cluster"))
	p := start(t, nil, "exec", "--dir", string(dir), "--components", "etcd,apiserver", "--", "sh", "-c",
		`read word; echo "read $word"; trap 'echo hangup' HUP; trap 'echo int; exit 9' INT; echo waiting; while :; do sleep 0.01; done`)
	_, err := p.stdin.(interface{ Write([]byte) (int, error) }).Write([]byte("hello\n"))
	require.NoError(t, err)
	p.await("read hello\nwaiting\n")
	s, err := state.Read(dir.State())
	require.NoError(t, err)
	assert.Len(t, s.Components, 2)
	p.signal(syscall.SIGHUP)
	p.await("hangup\n")
	p.signal(os.Interrupt)
	assert.Equal(t, 9, p.wait(2*stopLimit))
	assert.Equal(t, "read hello\nwaiting\nhangup\nint\n", p.stdout.String(), "nothing but the command's output")
	requireGone(t, dir, s)
	assert.FileExists(t, s.Components[0].Log, "a directory that was given stays")
}

// Whoever types Ctrl-C interrupts the command once, also where the terminal isn't the standard input.
func TestExecInterruptedFromTheTerminal(t *testing.T) {
	t.Parallel()
	keyboard, terminal, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = keyboard.Close(), terminal.Close() })
	p := start(t, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stderr = nil, terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	}, "exec", "--dir", filepath.Join(t.TempDir(), "cluster"), "--components", "etcd,apiserver", "--", "sh", "-c",
		`trap 'echo int' INT; trap 'exit 9' TERM; echo waiting; while :; do sleep 0.01; done`)
	p.await("waiting\n")
	_, err = keyboard.Write([]byte{3})
	require.NoError(t, err)
	p.await("int\n")
	time.Sleep(500 * time.Millisecond) // in which another one would have come
	p.signal(syscall.SIGTERM)
	assert.Equal(t, 9, p.wait(2*stopLimit))
	assert.Equal(t, "waiting\nint\n", p.stdout.String())
}

func TestExecKilledTakesTheCommandAlong(t *testing.T) {
	t.Parallel()
	dir := workdir.Dir(filepath.Join(t.TempDir(), "cluster"))
	p := start(t, nil, "exec", "--dir", string(dir), "--components", "etcd,apiserver", "--", "sh", "-c", `echo "pid $$."; exec sleep 1000`)
	p.await(".\n")
	pid := decode[int](t, strings.TrimSuffix(strings.TrimPrefix(p.stdout.String(), "pid "), ".\n"))
	require.True(t, alive(pid))
	s, err := state.Read(dir.State())
	require.NoError(t, err)
	p.signal(syscall.SIGKILL)
	requireGone(t, dir, s)
	require.Eventually(t, func() bool { return !alive(pid) }, stopLimit, interval)
}

func TestExecWhenTheClusterDies(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	script := `kill -9 $(sed -n 's/.*"pid": \([0-9]*\),/\1/p' "$OPERKIT_DEVCLUSTER/state.json" | head -n 1); exec sleep 1000`
	code, _, stderr := runProgram(t, binary, []string{"TMPDIR=" + temporary}, "exec", "--components", "etcd,apiserver", "--", "sh", "-c", script)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "component etcd ended by itself (signal: killed); the end of "+temporary)
	logs, err := filepath.Glob(filepath.Join(temporary, "*", "logs", "etcd.log"))
	require.NoError(t, err)
	assert.Len(t, logs, 1, "the logs that the message names are kept")
}

func TestExecNamesWhatItCannotRun(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := devcluster(t, "exec", "--", "/nonexistent/command")
	assert.Equal(t, 127, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "devcluster: command: exec: \"/nonexistent/command\": stat /nonexistent/command: no such file or directory\n", stderr)
}
