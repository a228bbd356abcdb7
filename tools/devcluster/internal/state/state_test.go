package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

func running() State {
	return State{
		Phase: Ready, Ready: true, Version: "v1.36.3", SupervisorPID: 7, Server: "https://127.0.0.1:1",
		Kubeconfig: "/d/kubeconfig", ControlSocket: "/d/control.sock",
		Components: []Component{{Name: component.Etcd, PID: 8, Phase: Ready, Log: "/d/logs/etcd.log"}},
	}
}

func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	_, err := Read(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, Write(path, running()))
	got, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, running(), got)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no unfinished file is left")

	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = Read(path)
	assert.ErrorContains(t, err, "state "+path)
	assert.ErrorIs(t, Write(filepath.Join(t.TempDir(), "missing", "state.json"), running()), fs.ErrNotExist)
}

func TestEnded(t *testing.T) {
	t.Parallel()
	before := running()
	got := before.Ended(Failed, "why")
	assert.Equal(t, running(), before, "the input is left alone")
	want := running()
	want.Phase, want.Ready, want.Message, want.SupervisorPID = Failed, false, "why", 0
	want.Components[0].PID, want.Components[0].Phase = 0, Stopped
	assert.Equal(t, want, got)
}

func TestMarkKilled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason     string
		supervisor int
		ready      bool
	}{
		{"the supervisor that wrote the file is gone", 7, false},
		{"another supervisor has taken over", 6, true},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.json")
			before, err := MarkKilled(path, row.supervisor)
			require.NoError(t, err, "no file: nothing to do")
			assert.Empty(t, before)
			require.NoError(t, Write(path, running()))
			before, err = MarkKilled(path, row.supervisor)
			require.NoError(t, err)
			got, err := Read(path)
			require.NoError(t, err)
			assert.Equal(t, row.ready, got.Ready)
			if row.ready {
				assert.Empty(t, before)
				return
			}
			assert.Equal(t, running(), before)
			assert.Equal(t, "the supervisor was killed", got.Message)
			before, err = MarkKilled(path, row.supervisor)
			require.NoError(t, err, "once is enough")
			assert.Empty(t, before)
		})
	}
}
