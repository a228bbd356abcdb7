//go:build unix

package program_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"github.com/operkit/operkit/tools/hooks/internal/program"
)

// brief is a timeout that leaves a script the time to begin.
const brief = 3 * time.Second

// shell returns the command of a script.
func shell(script string) []string { return []string{"sh", "-c", script} }

// call calls a program once.
func call(t *testing.T, config program.Config, body string) (string, error) {
	t.Helper()
	p, err := program.New(t.Context(), config)
	require.NoError(t, err)
	response, err := p.Call(t.Context(), "", []byte(body))
	return string(response), err
}

func TestOnce(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	for _, row := range []struct {
		reason, script, body string
		want                 string
	}{
		{"the whole output is the response", "cat", large, large},
		{"its input need not be read", "echo '{}'", large, "{}\n"},
		{"nor closed", "exec <&-; echo '{}'", large, "{}\n"},
		{"what it says besides doesn't matter", "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo '{}'", "", "{}\n"},
		{"it has no environment", "env | cut -d= -f1 | grep -v -e ^PATH$ -e ^HOME$ -e ^LANG$ -e ^TMPDIR$ -e ^PWD$ -e ^SHLVL$ -e ^_$ -e ^OLDPWD$", "", "COLOR\n"},
	} {
		t.Run("hooks 20: "+row.reason, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, program.Config{Command: shell(row.script), Env: []string{"COLOR=blue"}}, row.body)
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
	t.Run("hooks 20: a relative program is in its folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "hook"), []byte("#!/bin/sh\npwd\n"), 0o700))
		got, err := call(t, program.Config{Command: []string{"./hook"}, Dir: dir}, "")
		require.NoError(t, err)
		assert.Equal(t, dir+"\n", got)
	})
}

func TestOnceFails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, script string
		want           string
		as             any
	}{
		{"an exit code, with what it has said", "echo one >&2; echo two >&2; exit 3", "it has ended: exit status 3: one two", new(*program.ExitError)},
		{"a response and an exit code", "echo '{}'; exit 3", "it has ended: exit status 3", new(*program.ExitError)},
		{"no response", "true", "it has ended: without a response", new(*program.ExitError)},
		{"a signal", "kill -9 $$", "it has ended: signal: killed", new(*program.ExitError)},
		{"endless output", "yes", "the response is larger than 65536 bytes", new(*limits.SizeError)},
		{"100 MB", "head -c 100000000 /dev/zero", "the response is larger than 65536 bytes", new(*limits.SizeError)},
		{"endless output that ignores a broken pipe", "trap '' PIPE; while :; do echo yes 2>/dev/null; done", "the response is larger than 65536 bytes", new(*limits.SizeError)},
		{"a minute of silence", "sleep 60", "no response within 3s: make the hook faster, or raise its timeout", new(*limits.TimeoutError)},
		{"with what it has said before", "echo well >&2; sleep 60", "raise its timeout: it has written: well", new(*limits.TimeoutError)},
		{"a minute of silence, whatever it is told", "trap '' TERM; sleep 60", "no response within 3s", new(*limits.TimeoutError)},
		{"silence after the response", "echo '{}'; exec >&-; sleep 60", "no response within 3s", new(*limits.TimeoutError)},
	} {
		t.Run("hooks 21: "+row.reason, func(t *testing.T) {
			t.Parallel()
			config := program.Config{Command: shell(row.script), MaxResponse: 1 << 16}
			if _, late := row.as.(**limits.TimeoutError); late {
				config.Timeout = brief
			}
			began := time.Now()
			_, err := call(t, config, "{}")
			require.ErrorContains(t, err, row.want)
			require.ErrorAs(t, err, row.as)
			assert.ErrorContains(t, err, "sh -c")
			assert.Less(t, time.Since(began), 30*time.Second)
		})
	}
	t.Run("hooks 21: the end of the caller", func(t *testing.T) {
		t.Parallel()
		p, err := program.New(t.Context(), program.Config{Command: shell("sleep 60")})
		require.NoError(t, err)
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(enough) })
		_, err = p.Call(ctx, "", nil)
		require.ErrorIs(t, err, enough)
		var late *limits.TimeoutError
		assert.False(t, errors.As(err, &late))
	})
	t.Run("hooks 21: memory, for each process", func(t *testing.T) {
		t.Parallel()
		_, err := call(t, program.Config{Command: []string{"python3", "-c", "bytearray(1 << 30)"}, Memory: 256 << 20}, "")
		assert.ErrorContains(t, err, "MemoryError")
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), nil, 0o600))
	for _, row := range []struct {
		reason string
		config program.Config
		want   string
	}{
		{"no command", program.Config{}, "hook: no command"},
		{"a program that isn't there", program.Config{Command: []string{"surely-not-here", "a"}}, "hook surely-not-here a: "},
		{"a file that isn't a program", program.Config{Command: []string{"./text"}, Dir: dir}, "permission denied: install it, or name another program"},
		{"a folder", program.Config{Command: []string{dir}}, "hook " + dir},
		{"a negative limit", program.Config{Command: shell("true"), Timeout: -1}, "negative limit"},
	} {
		_, err := program.New(t.Context(), row.config)
		assert.ErrorContains(t, err, row.want, row.reason)
	}
}

// runs reports whether the process runs whose id is in a file.
func runs(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(state), ") Z ")
}

func TestWhatItStarts(t *testing.T) {
	t.Parallel()
	t.Run("hooks 22: processes that it has started end with it", func(t *testing.T) {
		t.Parallel()
		for _, end := range []string{"echo '{}'", "exit 1", "sleep 60"} {
			file := filepath.Join(t.TempDir(), "pid")
			began := time.Now()
			_, _ = call(t, program.Config{Command: shell("sleep 600 & echo $! > " + file + "; " + end), Timeout: brief}, "")
			assert.Less(t, time.Since(began), 30*time.Second)
			assert.Eventually(t, func() bool { return !runs(t, file) }, 30*time.Second, 10*time.Millisecond, end)
		}
	})
	t.Run("hooks 22: one that has left the group doesn't hold the call up", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "pid")
		got, err := call(t, program.Config{Command: shell("setsid sh -c 'echo $$ > " + file + "; exec sleep 600' & while [ ! -s " + file + " ]; do :; done; echo '{}'")}, "")
		require.NoError(t, err)
		assert.Equal(t, "{}\n", got)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it isn't ours any more")
	})
}

// Neither a success nor a failure leaves a file open.
func TestFiles(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	scripts := []string{"cat", "exit 1", "yes"}
	for _, script := range scripts {
		_, _ = call(t, program.Config{Command: shell(script), MaxResponse: 1 << 16}, "{}")
	}
	before := count()
	for range 10 {
		for _, script := range scripts {
			_, _ = call(t, program.Config{Command: shell(script), MaxResponse: 1 << 16}, "{}")
		}
	}
	assert.LessOrEqual(t, count(), before)
}
