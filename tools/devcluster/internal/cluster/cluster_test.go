package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/control"
	"github.com/operkit/operkit/tools/devcluster/internal/state"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

const patience = 20 * time.Second

// fixture is a directory for one cluster of fakes.
type fixture struct {
	t         *testing.T
	options   Options
	events    string
	behaviour string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{
		t: t, events: filepath.Join(dir, "events"), behaviour: filepath.Join(dir, "behaviour"),
		options: Options{
			Dir: workdir.Dir(filepath.Join(dir, "cluster")), Executable: os.Args[0], Version: "v1.36.3",
			KwokConfig: []byte("kind: Stage\n"), StartTimeout: patience,
		},
	}
	f.misbehave()
	return f
}

func (f *fixture) misbehave(lines ...string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.behaviour, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

func (f *fixture) start() *Cluster {
	f.t.Helper()
	c, err := Start(f.t.Context(), f.options)
	require.NoError(f.t, err)
	f.t.Cleanup(c.Stop)
	return c
}

// happened returns the events that begin with that word.
func (f *fixture) happened(word string) []string {
	f.t.Helper()
	raw, err := os.ReadFile(f.events)
	require.NoError(f.t, err)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, word) })
}

func (f *fixture) state() state.State {
	f.t.Helper()
	s, err := state.Read(f.options.Dir.State())
	require.NoError(f.t, err)
	return s
}

// requireEnded checks that nothing of the cluster is left.
func (f *fixture) requireEnded(before state.State) {
	f.t.Helper()
	for _, c := range before.Components {
		if c.PID != 0 {
			require.ErrorIs(f.t, syscall.Kill(c.PID, 0), syscall.ESRCH, "%s is gone", c.Name)
		}
	}
	taken, err := f.options.Dir.Taken()
	require.NoError(f.t, err)
	require.False(f.t, taken)
	require.NoFileExists(f.t, f.options.Dir.ControlSocket())
	require.False(f.t, f.state().Ready)
	require.Zero(f.t, f.state().SupervisorPID)
}

func TestStartAndStop(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Audit, f.options.Temporary = true, true
	f.options.FeatureGates = "A=true"
	var progress []string
	f.options.Progress = func(line string) { progress = append(progress, line) }
	c := f.start()
	s := f.state()
	assert.Equal(t, s, c.Status(t.Context()), "file and socket say the same")
	dir := f.options.Dir
	assert.Equal(t, state.State{
		Phase: state.Ready, Ready: true, Temporary: true, Version: "v1.36.3", SupervisorPID: os.Getpid(), Server: c.Server(),
		Kubeconfig: dir.Kubeconfig(), AuditLog: dir.AuditLog(), ControlSocket: dir.ControlSocket(), Components: s.Components,
	}, s)
	for i, n := range component.All() {
		assert.Equal(t, state.Component{Name: n, PID: s.Components[i].PID, Phase: state.Ready, Log: dir.Log(n)}, s.Components[i])
		assert.NoError(t, syscall.Kill(s.Components[i].PID, 0), "%s runs", n)
	}
	for _, n := range []component.Name{component.APIServer, component.ControllerManager, component.Scheduler} {
		assert.Contains(t, f.happened("start " + string(n))[0], " --feature-gates=A=true")
	}
	assert.Contains(t, f.happened("start apiserver")[0], " --audit-log-mode=blocking")
	assert.Len(t, progress, 3)

	c.Stop()
	c.Stop()
	f.requireEnded(s)
	assert.Equal(t, state.Stopped, f.state().Phase)
	assert.NoError(t, c.Wait(t.Context()))
	assert.FileExists(t, dir.Log(component.Etcd), "the logs stay")
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Audit = true
	f.start()
	require.NoError(t, filepath.WalkDir(string(f.options.Dir), func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		if entry.IsDir() || strings.Contains(path, "/pki/") || strings.Contains(path, "kubeconfig") {
			assert.Zero(t, info.Mode().Perm()&0o077, path)
		}
		return nil
	}))
}

func TestDefinitionsComeBeforeTheControllerManager(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	crds := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(crds, []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n"), 0o600))
	f.options.CRDs = []string{crds}
	f.start()
	events := f.happened("")
	established := slices.IndexFunc(events, func(e string) bool { return strings.HasPrefix(e, "GET /apis/apiextensions.k8s.io") })
	manager := slices.IndexFunc(events, func(e string) bool { return strings.HasPrefix(e, "start controller-manager") })
	assert.Less(t, established, manager)
	assert.NotEqual(t, -1, established)
}

// The class has to be known as the default one before somebody makes a claim.
func TestStorageClassesComeBeforeTheControllerManager(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	events := f.happened("")
	created := slices.Index(events, "POST "+classesPath)
	manager := slices.IndexFunc(events, func(e string) bool { return strings.HasPrefix(e, "start controller-manager") })
	require.NotEqual(t, -1, created)
	assert.Less(t, created, manager)
	assert.Len(t, f.happened("POST "+classesPath), 2)
	kubeconfig := filepath.Join(f.options.Dir.Run(), provisionerKubeconfig)
	assert.Contains(t, events[manager], " --volume-provisioner=operkit.dev/devcluster --volume-provisioner-kubeconfig="+kubeconfig)
	assert.FileExists(t, kubeconfig)
}

func TestFewerComponents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Components = component.Set{component.Etcd, component.APIServer}
	c := f.start()
	assert.Len(t, c.Status(t.Context()).Components, 2)
	assert.Len(t, f.happened("start"), 2)
	assert.Empty(t, f.happened("POST"), "no fake node without kwok, no StorageClass without the controller-manager")
	err := c.Act(t.Context(), component.Kwok, control.Stop)
	assert.EqualError(t, err, "component kwok is not part of this cluster (etcd,apiserver)")
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason    string
		behaviour string
		prepare   func(*fixture)
		errs      []string
		logs      bool
	}{
		{"etcd crashes", "crash etcd", nil, []string{"component etcd ended by itself (exit status 3)", "/logs/etcd.log", "boom: this is why"}, true},
		{"kwok crashes", "crash kwok", nil, []string{"component kwok ended by itself (exit status 3)", "boom: this is why"}, true},
		{"the API server crashes over a request", "crash over POST", nil, []string{"component apiserver ended by itself (exit status 3)", "boom: this is why"}, true},
		{"the API server never answers", "silent apiserver", func(f *fixture) { f.options.StartTimeout = 3 * time.Second }, []string{"apiserver: not ready within 3s (logs are in ", "connection refused"}, true},
		{"the scheduler is never well", "unhealthy scheduler", func(f *fixture) { f.options.StartTimeout = 3 * time.Second }, []string{"scheduler: not ready within 3s", "500 Internal Server Error: not feeling well"}, true},
		{"the node keeps its taint", "tainted", func(f *fixture) { f.options.StartTimeout = 3 * time.Second }, []string{"node fake-0: not ready within 3s", "it has the taint not-ready"}, true},
		{"the program is not there", "", func(f *fixture) { f.options.Executable = "/nonexistent" }, []string{"component etcd cannot be started: fork/exec /nonexistent: no such file"}, false},
		{"the port is taken", "", func(f *fixture) { f.options.Port = listen(f.t) }, []string{"apiserver: port ", " on 127.0.0.1 is not free"}, false},
		{"the definitions are broken", "", func(f *fixture) { f.options.CRDs = []string{"/nonexistent"} }, []string{"CRDs: stat /nonexistent"}, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.misbehave(row.behaviour)
			if row.prepare != nil {
				row.prepare(f)
			}
			_, err := Start(t.Context(), f.options)
			require.Error(t, err)
			for _, want := range row.errs {
				assert.ErrorContains(t, err, want)
			}
			assert.Equal(t, row.logs, LogsMatter(err))
			if _, err := os.Stat(f.options.Dir.State()); err == nil {
				f.requireEnded(f.state())
				assert.Equal(t, state.Failed, f.state().Phase)
			}
		})
	}
}

// listen takes a port until the end of the test.
func listen(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

func TestStartIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason    string
		interrupt func(*fixture, context.CancelCauseFunc)
		err       string
	}{
		{"its context ends", func(_ *fixture, cancel context.CancelCauseFunc) { cancel(errors.New("enough")) }, "start: enough"},
		{"its context is cancelled", func(_ *fixture, cancel context.CancelCauseFunc) { cancel(nil) }, "start: interrupted"},
		{"it is asked to end", func(f *fixture, _ context.CancelCauseFunc) {
			require.NoError(f.t, control.NewClient(f.options.Dir.ControlSocket()).Down(f.t.Context()))
		}, "stopped on request"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.misbehave("silent apiserver")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := make(chan error, 1)
			go func() {
				_, err := Start(ctx, f.options)
				ended <- err
			}()
			client := control.NewClient(f.options.Dir.ControlSocket())
			var s state.State
			require.Eventually(t, func() bool {
				var err error
				s, err = client.Status(t.Context())
				return err == nil && s.Components[1].PID != 0
			}, patience, time.Millisecond)
			assert.Equal(t, state.Starting, s.Phase)
			assert.False(t, s.Ready)
			assert.EqualError(t, client.Act(t.Context(), component.Etcd, control.Restart), errBusy.Error())
			row.interrupt(f, cancel)
			assert.ErrorContains(t, <-ended, row.err)
			f.requireEnded(s)
		})
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, n := range component.All() {
		t.Run(string(n), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			c := f.start()
			s := f.state()
			victim := s.Components[slices.Index(component.All(), n)]
			require.NoError(t, syscall.Kill(victim.PID, syscall.SIGKILL))
			err := c.Wait(t.Context())
			var crash *CrashError
			require.ErrorAs(t, err, &crash)
			assert.Equal(t, &CrashError{Component: n, Outcome: "signal: killed", Log: victim.Log, Tail: ""}, crash)
			assert.Equal(t, state.Failed, f.state().Phase, "said before the end")
			assert.False(t, c.Status(t.Context()).Ready)
			c.Stop()
			f.requireEnded(s)
			assert.Equal(t, err.Error(), f.state().Message)
		})
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	require.NoError(t, control.NewClient(f.options.Dir.ControlSocket()).Down(t.Context()))
	assert.NoError(t, c.Wait(t.Context()))
	s := f.state()
	c.Stop()
	f.requireEnded(s)
}

func TestTwoClusters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.start()
	g := newFixture(t)
	second := g.start()
	assert.NotEqual(t, first.Server(), second.Server())
	first.Stop()
	assert.True(t, second.Status(t.Context()).Ready, "the end of one is not the end of the other")

	_, err := Start(t.Context(), g.options)
	var running *workdir.RunningError
	assert.ErrorAs(t, err, &running)
	assert.True(t, second.Status(t.Context()).Ready, "nor is a refused start")
}

func TestEnvironmentOfComponents(t *testing.T) {
	for _, name := range []string{"ETCD_NAME", "KUBECONFIG", "KUBERNETES_MASTER", "KWOK_X"} {
		t.Setenv(name, "x")
	}
	t.Setenv("TZ", "UTC")
	c := &Cluster{options: Options{Dir: "/d"}}
	got := c.environment()
	assert.Contains(t, got, "TZ=UTC")
	assert.Contains(t, got, StateEnvironment+"=/d/state.json")
	for _, variable := range got {
		assert.NotRegexp(t, "^(ETCD_|KUBE|KWOK_)", variable)
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.start()
	out, err := Kubeconfig(f.options.Dir, c.Server(), "bob", "dev")
	require.NoError(t, err)
	assert.Contains(t, string(out), "server: "+c.Server())
	assert.Contains(t, string(out), "user: bob")
	_, err = Kubeconfig("/nonexistent", c.Server(), "bob")
	assert.ErrorContains(t, err, "certificate authority: open /nonexistent/pki/ca.crt")
	assert.Equal(t, fmt.Sprintf("https://127.0.0.1:%d", c.ports[component.APIServer].Number()), c.Server())
}
