// Command readiness reads Kubernetes objects from files or from its standard input, and prints which of them are ready,
// and why the others aren't, without a cluster. It is an example of the module status and uses no other module of
// operkit.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// The exit codes other than 0.
const (
	exitNotReady = 1
	exitInput    = 2
)

func main() {
	os.Exit(run(os.Args[1:], time.Now, os.Stdin, os.Stdout, os.Stderr))
}

// run runs the command and returns its exit code.
func run(args []string, now func() time.Time, stdin io.Reader, stdout, stderr io.Writer) int {
	command := newCommand(now)
	command.SetArgs(args)
	command.SetIn(stdin)
	command.SetOut(stdout)
	command.SetErr(stderr)
	switch err := command.Execute(); {
	case err == nil:
		return 0
	case errors.Is(err, errNotReady):
		return exitNotReady
	default:
		_, _ = fmt.Fprintln(stderr, "readiness:", oneLine(err.Error()))
		return exitInput
	}
}
