package main

import "syscall"

// attached makes a child end with this program, however this program ends. The child doesn't get Ctrl-C: we stop it
// ourselves, gracefully.
func attached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
