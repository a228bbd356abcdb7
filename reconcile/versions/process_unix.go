//go:build unix

package versions

import (
	"os/exec"
	"syscall"
)

// apart has a signal from the terminal reach the manager alone, which ends its versions when it is ready to.
func apart(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a process and those that it has started, which would hold its streams open.
func kill(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
