package program_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	t.Parallel()
	brief, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	with := func(change func(command *exec.Cmd), args ...string) *exec.Cmd {
		command := program.Command(args...)
		change(command)
		return command
	}
	asItIs := func(*exec.Cmd) {}
	for _, row := range []struct {
		reason  string
		command *exec.Cmd
		want    program.Result
	}{
		{"one that its context ends is killed", exec.CommandContext(brief, "sleep", "60"), program.Result{Code: -1}},
		{"the two outputs are told apart", with(asItIs, "hello", "world"), program.Result{Stdout: "hello world\n", Stderr: "(said to world)\n"}},
		{"an exit code is a result", with(asItIs, "exit", "3"), program.Result{Code: 3}},
		{"input is given as text", with(func(command *exec.Cmd) { command.Stdin = strings.NewReader("a text") }, "echo"), program.Result{Stdout: "a text"}},
		{"the environment is that of the test", with(asItIs, "variable", "PATH"), program.Result{Stdout: os.Getenv("PATH")}},
		{"unless another one is given, in which it is the program too", with(func(command *exec.Cmd) { command.Env = []string{"PATH=another"} }, "variable", "PATH"), program.Result{Stdout: "another"}},
		{"an empty one", with(func(command *exec.Cmd) { command.Env = []string{} }, "variable", "PATH"), program.Result{}},
		{"another program", exec.Command("sh", "-c", "echo $0; exit 4"), program.Result{Stdout: "sh\n", Code: 4}},
		{"that is the program below another one", exec.Command("sh", "-c", "exec '"+program.Command().Path+"' exit 5"), program.Result{Code: 5}},
		{"a signal is no exit code", exec.Command("sh", "-c", "kill -9 $$"), program.Result{Code: -1}},
		{"one that leaves something behind which holds its output", &exec.Cmd{
			Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 10 & echo left"}, WaitDelay: 100 * time.Millisecond,
		}, program.Result{Stdout: "left\n"}},
		{"a command without arguments", &exec.Cmd{Path: "/bin/true"}, program.Result{}},
	} {
		assert.Equal(t, row.want, program.Run(t, row.command), row.reason)
	}
	var own bytes.Buffer
	result := program.Run(t, with(func(command *exec.Cmd) { command.Stderr = &own }, "hello", "world"))
	assert.Equal(t, "hello world\n", result.Output(), "a writer of the command's own has it alone")
	assert.Equal(t, "(said to world)\n", own.String())
}

func TestStopped(t *testing.T) {
	t.Parallel()
	p := program.Start(t, program.Command("wait"))
	says(t, p, "waiting")
	require.True(t, p.Running())
	assert.Zero(t, p.Stop(t), "in good order")
	assert.False(t, p.Running())
	assert.Equal(t, "waiting\nstopped\n", p.Output())
	assert.Zero(t, p.Wait(t), "as often as one likes")
	p.Kill()
	assert.Zero(t, p.Wait(t), "one that has ended stays so")
}

func TestKilled(t *testing.T) {
	t.Parallel()
	p := program.Start(t, program.Command("ignore"))
	says(t, p, "waiting")
	p.Signal(t, syscall.SIGTERM)
	time.Sleep(100 * time.Millisecond)
	require.True(t, p.Running(), "it ignores that signal")
	p.Kill()
	assert.False(t, p.Running())
	assert.Equal(t, -1, p.Wait(t))
}

func TestEndsByItself(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 7, program.Start(t, program.Command("exit", "7")).Wait(t))
	p := program.Start(t, program.Command("hello", "world"))
	p.Wait(t)
	assert.ElementsMatch(t, []string{"hello world", "(said to world)"}, strings.Split(strings.TrimSpace(p.Output()), "\n"), "both outputs, in the order in which they came")
}

// A process that has ended isn't waited for because of what it has left behind.
func TestChildHoldsTheOutput(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, sleeps, want string }{
		{"but for a short while", "0.2", "left\nslept\n"},
		{"and no longer", "10", "left\n"},
	} {
		command := exec.Command("sh", "-c", "(sleep "+row.sleeps+"; echo slept) & echo left")
		command.WaitDelay = 3 * time.Second
		p := program.Start(t, command)
		p.Wait(t)
		assert.Equal(t, row.want, p.Output(), row.reason)
	}
}

func TestEndsWithItsTest(t *testing.T) {
	t.Parallel()
	for _, failed := range []bool{false, true} {
		r := &recorder{TB: t, failed: failed}
		var p *program.Process
		r.do(func() {
			p = program.Start(r, program.Command("wait"))
			says(t, p, "waiting")
		})
		require.Empty(t, r.message)
		assert.False(t, p.Running())
		require.ErrorIs(t, syscall.Kill(p.PID(), 0), syscall.ESRCH, "it is waited for")
		if failed {
			assert.Contains(t, r.logged, "output of program.test wait:\nwaiting\n")
		} else {
			assert.Empty(t, r.logged)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	gone := program.Start(t, program.Command("hello", "world"))
	gone.Wait(t)
	none := filepath.Join(t.TempDir(), "none")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		reason string
		do     func(t testing.TB)
		want   string
	}{
		{"there is no such program", func(t testing.TB) { program.Start(t, exec.Command(none, "run")) }, "program: start none run: fork/exec " + none + ": no such file"},
		{"nor to be run", func(t testing.TB) { program.Run(t, exec.Command(none, "run")) }, "program: run none run: fork/exec " + none + ": no such file"},
		{"it mayn't run any more", func(t testing.TB) { program.Run(t, exec.CommandContext(over, "sleep", "60")) }, "program: run sleep 60: context canceled"},
		{"it has ended already", func(t testing.TB) { gone.Stop(t) }, "program.test hello world: terminated: os: process already finished\nhello world\n"},
	} {
		r := &recorder{TB: t}
		r.do(func() { row.do(r) })
		assert.Contains(t, r.message, row.want, row.reason)
	}
}

func TestOutputWhileItIsWritten(t *testing.T) {
	t.Parallel()
	p := program.Start(t, exec.Command("sh", "-c", "for n in $(seq 200); do echo $n; echo $n >&2; done"))
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for before := ""; p.Running(); {
				now := p.Output()
				assert.True(t, strings.HasPrefix(now, before))
				before = now
			}
		})
	}
	p.Wait(t)
	readers.Wait()
	assert.Equal(t, 400, strings.Count(p.Output(), "\n"))
}

func says(t *testing.T, p *program.Process, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(p.Output(), text) }, program.Patience, time.Millisecond)
}

// recorder is a test of its own, of which only notes are taken.
type recorder struct {
	testing.TB
	failed          bool
	message, logged string
	cleanups        []func()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Logf(format string, args ...any) { r.logged += fmt.Sprintf(format, args...) }
func (r *recorder) Failed() bool                    { return r.failed }
func (r *recorder) Cleanup(f func())                { r.cleanups = append(r.cleanups, f) }

// do does what the test does, up to its end.
func (r *recorder) do(test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range r.cleanups {
				f()
			}
		}()
		test()
	}()
	<-done
}

func TestCommand(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	assert.Equal(t, []string{self, "a", "b"}, program.Command("a", "b").Args)
	output, err := program.Command("hello", "you").Output()
	require.NoError(t, err)
	assert.Equal(t, "hello you\n", string(output), "without Start and Run")
}

// A test binary that ran its tests again would start itself again, and so on.
func TestTestsAreNotRunAgain(t *testing.T) {
	t.Parallel()
	command := program.Command("-test.run=TestCommand")
	command.Env = os.Environ()
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 2, exit.ExitCode())
	assert.Equal(t, "program: a test has started the test binary, which would run the tests again: use program.Start or program.Run\n", string(output))
}
