package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// variable is the environment variable with the path of the test binary that runs as the program. Other programs that
// inherit the variable ignore it.
const variable = "OPERKIT_TEST_PROGRAM"

// tests is the environment variable with the path of the test binary that runs tests.
const tests = "OPERKIT_TEST_TESTS"

// prepared reports whether Main was called. Without that call the test binary would run all tests instead of the
// program, and would start itself again without end.
var prepared atomic.Bool

// Main makes the test binary run as the program. In a process that was started by Start or Run, or in a child of such a
// process, it calls main, and exits with code 0 if main returns. In any other process, which runs tests, Main returns
// at once. Call it in TestMain before anything else.
//
// If the tests start the test binary in another way, it would run the tests again, which would start it again, without
// end. Main ends such a process with code 2.
func Main(main func()) {
	isFirst := !prepared.Swap(true)
	self, err := os.Executable()
	switch {
	case err != nil:
	case os.Getenv(variable) == self:
		main()
		os.Exit(0)
	case isFirst && os.Getenv(tests) == self:
		fmt.Fprintln(os.Stderr, "program: a test has started the test binary, which would run the tests again: use program.Start or program.Run")
		os.Exit(2)
	default:
		_ = os.Setenv(tests, self) // fails for no such name
	}
}

// Command returns a command for Start and Run that runs the test binary as the program with arguments. A script that
// Start or Run runs may use its Path, too. Its Env is the environment of the test, with the variable that makes the
// test binary the program. To add a variable:
//
//	command.Env = append(command.Env, "KUBECONFIG="+file)
func Command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	command := exec.Command(self, args...)
	command.Env = append(os.Environ(), variable+"="+self)
	if err != nil {
		command.Err = err
	}
	return command
}

// prepare makes the test binary run as the program. It also makes Wait return after the process has ended, even if a
// child process holds the output open.
func prepare(t testing.TB, command *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("program: path of the test binary: %v", err)
	}
	if command.Path == self && !prepared.Load() {
		t.Fatalf("program: the test binary isn't the program yet: call program.Main in TestMain")
	}
	if len(command.Args) == 0 {
		command.Args = []string{command.Path}
	}
	command.Env = append(command.Environ(), variable+"="+self)
	if command.WaitDelay == 0 {
		command.WaitDelay = held
	}
}

// nameOf returns a command as a person would type it.
func nameOf(command *exec.Cmd) string {
	return strings.Join(append([]string{filepath.Base(command.Path)}, command.Args[1:]...), " ")
}
