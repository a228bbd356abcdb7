//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
)

// become runs the program as a child, because this system can't replace a process, and exits with the child's exit
// code.
func become(binary string, args []string) error {
	cmd := exec.Command(binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	return err
}
