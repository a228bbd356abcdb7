//go:build !linux

package main

import "syscall"

// attached would have a child end with this program; only Linux can do that for us. Ctrl-C
// reaches the child too then, which ends in good order by it.
func attached() *syscall.SysProcAttr { return nil }
