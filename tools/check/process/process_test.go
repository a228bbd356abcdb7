//go:build unix

package process_test

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

	"github.com/operkit/operkit/tools/check/process"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	out, err := process.Output(ctx, process.Command(ctx, t.TempDir(), []string{"NAME=value"}, "/bin/sh", "-c", "echo $NAME"))
	if err != nil || string(out) != "value\n" {
		t.Errorf("output %q, error %v", out, err)
	}
	_, err = process.Output(ctx, process.Command(ctx, "", nil, "/bin/sh", "-c", "echo reason >&2; exit 3"))
	if !process.Failed(err) || !strings.Contains(err.Error(), "exit status 3\nreason") {
		t.Errorf("failing program: %v, want its exit code and what it said", err)
	}
	_, err = process.Output(ctx, process.Command(ctx, "", nil, "/bin/sh", "-c", "exit 4"))
	if !process.Failed(err) || !strings.HasSuffix(err.Error(), "exit status 4") {
		t.Errorf("silent failing program: %v", err)
	}
	_, err = process.Output(ctx, process.Command(ctx, "", nil, "/nowhere/program"))
	if err == nil || process.Failed(err) {
		t.Errorf("program that is not there: %v, want an error that is no exit code", err)
	}
}

// TestRunEndsGrandchildren starts a program that has a child, and wants both gone.
func TestRunEndsGrandchildren(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, script string }{
		{"both end when interrupted", `/bin/sh -c 'echo $$ > child; exec sleep 300'; true`},
		{"the child ignores the interrupt", `(trap "" INT; sleep 300) & echo $! > child; wait`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := process.Output(ctx, process.Command(ctx, dir, nil, "/bin/sh", "-c", row.script))
				done <- err
			}()
			child := readPID(t, filepath.Join(dir, "child"))
			cancel()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want the one of the context", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("Run did not return")
			}
			waitGone(t, child)
		})
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	for range 500 {
		text, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: never written", file)
	return 0
}

// waitGone waits until the process is gone or a zombie that its new parent has yet to collect.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}
