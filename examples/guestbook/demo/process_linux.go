package main

import "syscall"

// attached has a child end with this program, however that ends, and keeps Ctrl-C from it:
// we end it ourselves, in good order.
func attached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
