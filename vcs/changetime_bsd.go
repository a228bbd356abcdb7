//go:build darwin || freebsd || netbsd

package vcs

import (
	"syscall"
	"time"
)

// changed returns the time of the last status change of a file.
func changed(of *syscall.Stat_t) time.Time { return time.Unix(of.Ctimespec.Unix()) }
