package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// variable has the path of the test binary that should be the program. Other binaries that inherit it ignore it.
const variable = "OPERKIT_TEST_PROGRAM"

// prepared reports whether Main was called. A test binary without it would run all tests instead of the program, and so
// itself, without end.
var prepared atomic.Bool

// Main makes the test binary the program. In a process that was started by Start or Run, or by such a process, it calls
// main and exits: with code 0 unless main has exited by itself. In any other process, which runs tests, Main returns at
// once. Call it in TestMain before anything else.
func Main(main func()) {
	prepared.Store(true)
	if self, err := os.Executable(); err == nil && os.Getenv(variable) == self {
		main()
		os.Exit(0)
	}
}

// Command is the test binary as the program, with arguments, for Start and Run. Its Path is good for scripts too that
// these run. Environment, folder and input are as package os/exec has them: a nil Env is the environment of the test,
// and a variable beside it is
//
//	command.Env = append(os.Environ(), "KUBECONFIG="+file)
func Command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	command := exec.Command(self, args...)
	if err != nil {
		command.Err = err
	}
	return command
}

// prepare makes the test binary run as the program, and lets the command end with its process, even if a child holds
// its output open.
func prepare(t testing.TB, command *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("program: which is the test binary: %v", err)
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
