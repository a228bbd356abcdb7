//go:build !unix

package versions

import "os/exec"

// apart: a terminal's signals reach all processes here.
func apart(*exec.Cmd) {}

// kill ends a process.
func kill(command *exec.Cmd) { _ = command.Process.Kill() }
