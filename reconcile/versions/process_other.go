//go:build !unix

package versions

import "os/exec"

// apart does nothing: on this system signals of the terminal reach all processes.
func apart(*exec.Cmd) {}

// kill ends a process.
func kill(command *exec.Cmd) { _ = command.Process.Kill() }
