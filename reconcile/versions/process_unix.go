//go:build unix

package versions

import (
	"os/exec"
	"syscall"
)

// apart has a signal from the terminal reach the manager alone, which ends its versions when it is ready to.
func apart(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a process and those that it has started, which are its group.
func kill(command *exec.Cmd) {
	if pid := command.Process.Pid; pid > 1 { // 0 and 1 would be other groups, or all processes
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}
