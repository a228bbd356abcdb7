package devcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBinaryNamedByTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	program, text := filepath.Join(dir, "program"), filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(program, nil, 0o700))
	require.NoError(t, os.WriteFile(text, nil, 0o600))
	tests := map[string]struct{ value, want, err string }{
		"a program":     {program, program, ""},
		"absent":        {filepath.Join(dir, "absent"), "", "OPERKIT_DEVCLUSTER_BINARY: stat " + dir + "/absent: no such file or directory"},
		"not to run":    {text, "", "OPERKIT_DEVCLUSTER_BINARY: " + text + " isn't a program that can be run"},
		"just a folder": {dir, "", "OPERKIT_DEVCLUSTER_BINARY: " + dir + " isn't a program that can be run"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(BinaryVariable, test.value)
			got, err := Binary(t.Context(), nil)
			assert.Equal(t, test.want, got)
			if test.err != "" {
				assert.EqualError(t, err, test.err)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

func TestOpenNeedsARunningCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Open(dir, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "cluster "+dir+": there is none in this folder")
	state := filepath.Join(dir, "state.json")
	require.NoError(t, os.WriteFile(state, []byte(`{"phase":"failed","message":"the supervisor was killed","supervisorPID":0}`), 0o600))
	_, err = Open(dir, nil)
	require.EqualError(t, err, "cluster "+dir+": it doesn't run: failed the supervisor was killed")
	require.NoError(t, os.WriteFile(state, []byte(`{`), 0o600))
	_, err = Open(dir, nil)
	require.EqualError(t, err, "cluster "+dir+": state.json: unexpected end of JSON input")
}

func TestClusterLifeOnTheRealProgram(t *testing.T) {
	t.Parallel()
	cluster, err := Start(t.Context(), StartOptions{Progress: os.Stderr, CRDs: []string{"../testdata/crds"}})
	require.NoError(t, err)
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			assert.NoError(t, cluster.Stop(context.WithoutCancel(t.Context())))
		}
	})
	assert.LessOrEqual(t, len(cluster.Dir()), 60, "short enough for sockets")
	assert.FileExists(t, cluster.Kubeconfig())
	assert.Contains(t, cluster.Log(), "the API server answers")
	before, err := cluster.State()
	require.NoError(t, err)
	assert.True(t, before.Ready)
	assert.Equal(t, filepath.Join(cluster.Dir(), "audit.log"), before.AuditLog)

	other, err := Open(cluster.Dir(), nil)
	require.NoError(t, err)
	require.NoError(t, other.RestartComponent(t.Context(), ControllerManager))
	after, err := other.State()
	require.NoError(t, err)
	assert.NotEqual(t, pid(t, before, ControllerManager), pid(t, after, ControllerManager))
	require.NoError(t, other.Stop(t.Context()), "whoever only opened it doesn't end it")
	require.ErrorContains(t, other.StopComponent(t.Context(), "nonsense"), "cluster "+cluster.Dir()+": stop nonsense: exit status")
	assert.Empty(t, other.Log())
	assert.DirExists(t, cluster.Dir())

	require.NoError(t, cluster.Stop(t.Context()))
	stopped = true
	require.NoError(t, cluster.Stop(t.Context()), "again is no error")
	assert.NoDirExists(t, filepath.Dir(cluster.Dir()))
	assert.NoDirExists(t, filepath.Join("/proc", fmt.Sprint(before.SupervisorPID)))
}

func pid(t *testing.T, state State, name string) int {
	t.Helper()
	for _, component := range state.Components {
		if component.Name == name {
			return component.PID
		}
	}
	t.Fatalf("no %s in %v", name, state.Components)
	return 0
}

func TestStartThatIsGivenUp(t *testing.T) {
	binary, err := Binary(t.Context(), os.Stderr)
	require.NoError(t, err)
	t.Setenv(BinaryVariable, binary) // the time is for the cluster, not for a build
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = Start(ctx, StartOptions{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "cluster: not ready")
}

func TestSupervisorThatDoesNotEndIsKilled(t *testing.T) {
	t.Parallel()
	home, owner, err := newHome(t.Context())
	require.NoError(t, err)
	s, err := supervise(home, owner, "/bin/sleep", []string{"60"}) // doesn't care for its standard input
	require.NoError(t, err)
	ended, _ := s.ended()
	require.False(t, ended)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits for it
	err = s.stop(ctx)
	assert.ErrorContains(t, err, "its supervisor didn't end and was killed")
	ended, how := s.ended()
	assert.True(t, ended)
	assert.Equal(t, "signal: killed", how)
	assert.NoDirExists(t, string(home))
}

func TestSweepRemovesWhatNobodyOwns(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	mkdir := func(name string) string {
		dir := filepath.Join(base, name)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "cluster"), 0o700))
		return dir
	}
	dead, live, foreign := mkdir(homePrefix+"1"), mkdir(homePrefix+"2"), mkdir(homePrefix+"3")
	require.NoError(t, os.WriteFile(filepath.Join(dead, ownerName), nil, 0o600))
	lock, err := filelock.Try(filepath.Join(live, ownerName))
	require.NoError(t, err)
	// The process that took it is gone, but not yet what it started.
	child := exec.CommandContext(t.Context(), "/bin/sleep", "60")
	child.ExtraFiles = []*os.File{lock.File()}
	require.NoError(t, child.Start())
	require.NoError(t, lock.Release())

	sweep(base)
	assert.NoDirExists(t, dead)
	assert.DirExists(t, live)
	assert.DirExists(t, foreign, "what has no owner's lock is someone else's")
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // killed
	sweep(base)
	assert.NoDirExists(t, live)
}
