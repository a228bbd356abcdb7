//go:build unix

package versions

import (
	"os/exec"
	"syscall"
)

// apart puts the process into its own group, so that signals of the terminal reach only the manager. The manager then
// stops the versions.
func apart(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a process and its process group.
func kill(command *exec.Cmd) {
	if pid := command.Process.Pid; pid > 1 { // -0 and -1 would mean other processes
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}
