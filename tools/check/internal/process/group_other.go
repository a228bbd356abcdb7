//go:build !unix

package process

import "os/exec"

func ownGroup(*exec.Cmd) {}

// Interrupt ends cmd, which must have been started.
func Interrupt(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Kill ends cmd, which must have been started.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
