//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// endGroup starts the command as a process group of its own, and ends all of it when its context
// does: what a shell has started would live on otherwise. kill ends what is still there.
func endGroup(c *exec.Cmd) (kill func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	return func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // an error says that nothing is left
		}
	}
}
