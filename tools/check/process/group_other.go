//go:build !unix

package process

import "os/exec"

func ownGroup(*exec.Cmd) {}

// interrupt ends cmd, which must have been started.
func interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// kill ends cmd, which must have been started.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
