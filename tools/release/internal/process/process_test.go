//go:build unix

package process_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/release/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shell(script string) process.Program {
	return process.Program{Name: "/bin/sh", Args: []string{"-c", script}}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	p := shell("cat; pwd; echo $NAME; echo more >&2")
	p.Dir, p.Env, p.Stdin = "/", []string{"NAME=value"}, strings.NewReader("given\n")
	out, err := p.Output(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "given\n/\nvalue\n", out)
	out, err = shell("echo one; echo two >&2").Combined(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", out)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	_, err := shell("echo reason >&2; exit 3").Output(t.Context())
	assert.EqualError(t, err, "/bin/sh -c echo reason >&2; exit 3: exit status 3\nreason")
	_, err = shell("exit 4").Output(t.Context())
	assert.EqualError(t, err, "/bin/sh -c exit 4: exit status 4")
	out, err := shell("echo reason >&2; exit 5").Combined(t.Context())
	assert.EqualError(t, err, "/bin/sh -c echo reason >&2; exit 5: exit status 5", "what it printed is given")
	assert.Equal(t, "reason\n", out)
	_, err = process.Program{Name: "/nowhere/program"}.Output(t.Context())
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestEndsGrandchildren starts a program that has a child, and wants both gone.
func TestEndsGrandchildren(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, script string }{
		{"both end when interrupted", `/bin/sh -c 'echo $$ > child; exec sleep 300'; true`},
		{"the child ignores the interrupt", `(trap "" INT; exec sleep 300) & echo $! > child; wait`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			p := shell(row.script)
			p.Dir = t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := p.Output(ctx)
				done <- err
			}()
			child := readPID(t, filepath.Join(p.Dir, "child"))
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			assert.Eventually(t, func() bool { return gone(child) }, 10*time.Second, 10*time.Millisecond)
		})
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	return pid
}

// gone tells whether the process has ended; its new parent may have yet to collect it.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ") || syscall.Kill(pid, 0) != nil
}
