//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// endGroup makes the command start in a process group of its own, which is ended as a whole when the command's context
// ends. Otherwise processes started by a shell would go on running. kill kills the processes that are left.
func endGroup(c *exec.Cmd) (kill func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	return func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // an error says that nothing is left
		}
	}
}
