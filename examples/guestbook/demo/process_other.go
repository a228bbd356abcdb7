//go:build !linux

package main

import "syscall"

// attached would make a child end with this program, but only Linux supports that. Here Ctrl-C also reaches the child,
// which then ends gracefully.
func attached() *syscall.SysProcAttr { return nil }
