//go:build linux

package process_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/process"
)

// start starts a script.
func start(t *testing.T, spec process.Spec, script string) *process.Process {
	t.Helper()
	spec.Command, spec.Env = []string{"/bin/sh", "-c", script}, append(spec.Env, "PATH="+os.Getenv("PATH"))
	p, err := process.Start(spec)
	require.NoError(t, err)
	t.Cleanup(p.End)
	return p
}

func TestProcess(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	p := start(t, process.Spec{Stderr: &said}, "cat; echo well >&2; exit 3")
	_, err := p.Stdin.WriteString("text")
	require.NoError(t, err)
	require.NoError(t, p.Stdin.Close())
	got, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	assert.Equal(t, "text", string(got))
	<-p.Ended()
	<-p.Said()
	var exit *exec.ExitError
	require.ErrorAs(t, p.Err(), &exit)
	assert.Equal(t, 3, exit.ExitCode())
	assert.Equal(t, "well\n", p.Text())
	assert.Equal(t, "well\n", said.String())
	_, err = process.Start(process.Spec{Command: []string{"/bin/sh"}, Dir: "/surely/not/here"})
	assert.Error(t, err)
}

// A process with the marker ends although it has left the group, and no other one does.
func TestMarker(t *testing.T) {
	t.Parallel()
	const away = "setsid sh -c 'echo $$ >%; exec sleep 600' & while [ ! -s % ]; do :; done"
	for _, row := range []struct {
		reason, marker string
		env            []string
		ends           bool
	}{
		{"it has the marker", "RUN=1", []string{"RUN=1"}, true},
		{"it is the last entry", "RUN=2", []string{"A=b", "RUN=2"}, true},
		{"without a marker", "", []string{"RUN=3"}, false},
		{"it has another entry", "RUN=4", []string{"RUN=44", "XRUN=4", "RUN="}, false},
	} {
		file := filepath.Join(t.TempDir(), "pid")
		p := start(t, process.Spec{Marker: row.marker, Env: row.env}, strings.ReplaceAll(away, "%", file))
		<-p.Ended()
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		runs := func() bool {
			state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err == nil && !strings.Contains(string(state), ") Z ")
		}
		if row.ends {
			assert.Eventually(t, func() bool { return !runs() }, 30*time.Second, 10*time.Millisecond, row.reason)
			continue
		}
		assert.True(t, runs(), row.reason)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
