package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

func newSpawner(t *testing.T) *Spawner {
	t.Helper()
	spawner := NewSpawner()
	t.Cleanup(spawner.Close)
	return spawner
}

// shell starts a shell script as a process.
func shell(t *testing.T, spawner *Spawner, script string) *Process {
	t.Helper()
	dir := t.TempDir()
	p, err := Start(spawner, Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Log: filepath.Join(dir, "log")})
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return p
}

func logged(p *Process) string {
	raw, _ := os.ReadFile(p.Log())
	return string(raw)
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	spawner := newSpawner(t)
	for _, row := range []struct{ script, outcome string }{
		{"exit 0", "exit status 0"},
		{"exit 3", "exit status 3"},
		{"kill -KILL $$", "signal: killed"},
	} {
		p := shell(t, spawner, "echo out; echo err >&2; "+row.script)
		assert.Equal(t, row.outcome, p.Outcome())
		assert.Equal(t, "out\nerr\n", logged(p), "both streams are in the log")
	}
}

func TestStartAppendsToTheLog(t *testing.T) {
	t.Parallel()
	spawner := newSpawner(t)
	log := filepath.Join(t.TempDir(), "log")
	for range 2 {
		p, err := Start(spawner, Spec{Path: "/bin/sh", Args: []string{"-c", "pwd"}, Dir: "/", Log: log})
		require.NoError(t, err)
		<-p.Done()
	}
	raw, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "/\n/\n", string(raw))
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	spawner := newSpawner(t)
	_, err := Start(spawner, Spec{Path: "/nonexistent", Log: filepath.Join(t.TempDir(), "log")})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Start(spawner, Spec{Path: "/bin/sh", Log: "/nonexistent/log"})
	require.ErrorContains(t, err, "/nonexistent/log")

	closed := NewSpawner()
	closed.Close()
	_, err = Start(closed, Spec{Path: "/bin/sh", Log: filepath.Join(t.TempDir(), "log")})
	assert.EqualError(t, err, "spawner is closed")
}

func TestStop(t *testing.T) {
	t.Parallel()
	spawner := newSpawner(t)
	for _, row := range []struct {
		reason, script, outcome string
		grace                   time.Duration
	}{
		{"it ends when it is asked to", "trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done", "exit status 4", patience},
		{"it does not listen", "trap '' TERM; echo ready; while :; do sleep 0.01; done", "signal: killed", 50 * time.Millisecond},
		{"it has ended already", "echo ready; exit 5", "exit status 5", patience},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			p := shell(t, spawner, row.script)
			require.Eventually(t, func() bool { return logged(p) == "ready\n" }, patience, time.Millisecond)
			if row.outcome == "exit status 5" {
				<-p.Done()
			}
			p.Stop(row.grace)
			assert.Equal(t, row.outcome, p.Outcome())
			p.Kill()
			assert.Positive(t, p.PID())
		})
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*tailBytes)
	for _, row := range []struct {
		reason, content string
		count           int
		want            string
	}{
		{"an empty file", "", 3, ""},
		{"fewer lines than asked for", "a\nb\n", 3, "a\nb"},
		{"more lines than asked for", "a\nb\nc\nd\n", 2, "c\nd"},
		{"no end of line at the end", "a\nb", 1, "b"},
		{"a line that is longer than what is read", long + "\nlast\n", 9, strings.Repeat("x", tailBytes-len("\nlast\n")) + "\nlast"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			require.NoError(t, os.WriteFile(path, []byte(row.content), 0o600))
			got, err := Tail(path, row.count)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
	_, err := Tail("/nonexistent", 1)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
