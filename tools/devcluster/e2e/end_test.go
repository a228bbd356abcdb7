package e2e

import (
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// small is the quickest cluster; it has all there is to start and stop.
var small = []string{"--components", "etcd,apiserver"}

func TestSignalStops(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		c := up(t)
		before := c.state()
		begin := time.Now()
		c.signal(s)
		assert.Zero(t, c.wait(stopLimit))
		t.Logf("%s: stopped in %s", s, time.Since(begin).Round(time.Millisecond))
		requireGone(t, c.dir, before)
		assert.Equal(t, state.Stopped, c.state().Phase)
	}
}

func TestEndOfInputStops(t *testing.T) {
	t.Parallel()
	c := up(t, small...)
	before := c.state()
	require.NoError(t, c.stdin.Close())
	assert.Zero(t, c.wait(stopLimit))
	requireGone(t, c.dir, before)
}

func TestKilledSupervisorLeavesNothing(t *testing.T) {
	t.Parallel()
	c := up(t)
	before := c.state()
	c.signal(syscall.SIGKILL)
	c.wait(stopLimit)
	requireGone(t, c.dir, before)
	assert.Equal(t, "the supervisor was killed", c.state().Message)
	code, stdout, _ := devcluster(t, "status", "--dir", string(c.dir))
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "the supervisor was killed")

	again := upIn(t, c.dir, small...)
	assert.True(t, again.state().Ready, "the directory can be used again")
	assert.NotEqual(t, before.SupervisorPID, again.state().SupervisorPID)
}

// TestKilledSupervisorOfSuspendedComponent: a suspended process reacts to nothing but SIGKILL.
func TestKilledSupervisorOfSuspendedComponent(t *testing.T) {
	t.Parallel()
	for _, n := range []component.Name{component.APIServer, component.Etcd} {
		c := up(t, small...)
		before := c.state()
		require.NoError(t, syscall.Kill(pids(before)[string(n)], syscall.SIGSTOP))
		c.signal(syscall.SIGKILL)
		c.wait(stopLimit)
		requireGone(t, c.dir, before)
	}
}

// TestKilledAtOnce: also when the next start follows immediately on the kill.
func TestKilledAtOnce(t *testing.T) {
	t.Parallel()
	c := up(t, small...)
	for range 3 {
		c.signal(syscall.SIGKILL)
		c.wait(stopLimit)
		c = upIn(t, c.dir, small...)
		assert.True(t, c.state().Ready)
		assert.Equal(t, c.cmd.Process.Pid, c.state().SupervisorPID)
	}
}

func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		dir := workdir.Dir(filepath.Join(t.TempDir(), "cluster"))
		p := start(t, nil, "up", "--dir", string(dir))
		var before state.State
		require.Eventually(t, func() bool {
			var err error
			before, err = state.Read(dir.State())
			return err == nil && len(before.Components) > 1 && before.Components[1].PID != 0
		}, patience, interval)
		assert.False(t, before.Ready)
		p.signal(s)
		assert.NotZero(t, p.wait(stopLimit))
		requireGone(t, dir, before)
		if s == syscall.SIGTERM {
			assert.Equal(t, "devcluster: start: interrupted\n", p.stderr.String())
		}
	}
}

func TestCrashIsReported(t *testing.T) {
	t.Parallel()
	for _, n := range []component.Name{component.APIServer, component.Kwok} {
		c := up(t)
		before := c.state()
		require.NoError(t, syscall.Kill(pids(before)[string(n)], syscall.SIGABRT))
		assert.Equal(t, 1, c.wait(stopLimit))
		message := c.stderr.String()
		assert.Contains(t, message, "devcluster: component "+string(n)+" ended by itself (exit status 2); the end of "+c.dir.Log(n)+":\n")
		assert.Contains(t, message, "rip    0x", "the tail of the log: the registers at the end of a Go stack trace")
		requireGone(t, c.dir, before)
		assert.Equal(t, state.Failed, c.state().Phase)
	}
}

func TestDetach(t *testing.T) {
	t.Parallel()
	dir := workdir.Dir(filepath.Join(t.TempDir(), "cluster"))
	name := string(dir)
	code, stdout, stderr := devcluster(t, append([]string{"up", "--detach", "--dir", name}, small...)...)
	require.Zero(t, code, stderr)
	t.Cleanup(func() { devcluster(t, "down", "--dir", name) })
	assert.Contains(t, stdout, "the API server answers at https://127.0.0.1:")
	assert.Contains(t, stdout, "ready: export KUBECONFIG="+dir.Kubeconfig())

	code, stdout, _ = devcluster(t, "status", "-o", "json", "--dir", name)
	assert.Zero(t, code)
	s := decode[state.State](t, stdout)
	assert.True(t, s.Ready)
	assert.True(t, alive(s.SupervisorPID))

	for _, flag := range []string{"--detach", "--until-eof"} {
		code, _, _ = devcluster(t, "up", flag, "--dir", name)
		assert.Equal(t, 1, code)
	}
	_, stdout, stderr = devcluster(t, "up", "--detach", "--dir", name)
	assert.Contains(t, stdout+stderr, "cluster directory "+name+": a cluster runs there already; stop it with 'devcluster down --dir "+name+"'")
	assert.True(t, alive(s.SupervisorPID), "it is left alone")

	code, stdout, stderr = devcluster(t, "down", "--dir", name)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "the cluster in "+name+" is stopped\n", stdout)
	requireGone(t, dir, s)
	code, stdout, _ = devcluster(t, "status", "--dir", name)
	assert.Equal(t, 1, code)
	assert.Equal(t, "cluster in "+name+": stopped\n", stdout)
}

func TestDetachedSupervisorKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := workdir.Dir(filepath.Join(t.TempDir(), "cluster"))
	code, _, stderr := devcluster(t, "up", "--detach", "--dir", string(dir))
	require.Zero(t, code, stderr)
	s, err := state.Read(dir.State())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(s.SupervisorPID, syscall.SIGKILL))
	requireGone(t, dir, s)
}

// TestDetachInterrupted: the one who waits for a detached start ends before it is ready.
func TestDetachInterrupted(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		dir := workdir.Dir(filepath.Join(t.TempDir(), "cluster"))
		p := start(t, nil, "up", "--detach", "--dir", string(dir))
		p.await("starting ")
		p.signal(s)
		assert.NotZero(t, p.wait(patience))
		var left state.State
		require.Eventually(t, func() bool {
			var err error
			left, err = state.Read(dir.State())
			taken, takenErr := dir.Taken()
			return err == nil && takenErr == nil && !taken && !left.Ready
		}, patience, interval)
		assert.False(t, left.Ready)
	}
}

func TestTwoClustersAtOnce(t *testing.T) {
	t.Parallel()
	dirs := []workdir.Dir{workdir.Dir(filepath.Join(t.TempDir(), "a")), workdir.Dir(filepath.Join(t.TempDir(), "b"))}
	var both []*cluster
	for _, dir := range dirs {
		c := &cluster{program: start(t, nil, "up", "--until-eof", "--dir", string(dir)), dir: dir}
		t.Cleanup(c.end)
		both = append(both, c)
	}
	for _, c := range both {
		c.await("ready: ")
	}
	first, second := both[0], both[1]
	assert.NotEqual(t, first.state().Server, second.state().Server)
	first.kubectl("create", "configmap", "only-here")
	assert.NotContains(t, second.kubectl("get", "configmaps", "-o", "name"), "only-here")
	before := first.state()
	require.NoError(t, first.stdin.Close())
	assert.Zero(t, first.wait(stopLimit))
	requireGone(t, first.dir, before)
	assert.Contains(t, second.kubectl("get", "nodes", "-o", "name"), "node/fake-0")
	assert.True(t, second.state().Ready)
}

// TestLongDirectory: the kernel takes no socket path of that length.
func TestLongDirectory(t *testing.T) {
	t.Parallel()
	dir := workdir.Dir(filepath.Join(t.TempDir(), strings.Repeat("a-long-name/", 20), "cluster"))
	c := upIn(t, dir, small...)
	code, _, stderr := devcluster(t, "status", "--dir", string(dir))
	assert.Zero(t, code, stderr)
	c.kubectl("get", "namespaces")
	code, _, stderr = devcluster(t, "down", "--dir", string(dir))
	assert.Zero(t, code, stderr)
	assert.Zero(t, c.wait(stopLimit))
}

func TestFreshStateAtEachStart(t *testing.T) {
	t.Parallel()
	c := up(t, small...)
	c.kubectl("create", "namespace", "old")
	require.NoError(t, c.stdin.Close())
	c.wait(stopLimit)
	c = upIn(t, c.dir, small...)
	assert.NotContains(t, c.kubectl("get", "namespaces", "-o", "name"), "old")
}

func TestGivenPort(t *testing.T) {
	t.Parallel()
	c := up(t, small...)
	server, err := url.Parse(c.state().Server)
	require.NoError(t, err)
	code, _, stderr := devcluster(t, "up", "--dir", filepath.Join(t.TempDir(), "other"), "--port", server.Port())
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "devcluster: apiserver: port "+server.Port()+" on 127.0.0.1 is not free: ")
	require.NoError(t, c.stdin.Close())
	c.wait(stopLimit)
	again := up(t, append([]string{"--port", server.Port()}, small...)...)
	assert.Equal(t, server.String(), again.state().Server)
}
