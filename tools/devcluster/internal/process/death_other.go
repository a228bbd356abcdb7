//go:build !linux

package process

import (
	"os/exec"
	"syscall"
)

// Only Linux has a parent death signal; elsewhere the lifeline alone ends the children.
func setParentDeathSignal(*exec.Cmd, syscall.Signal) {}
