//go:build linux || openbsd || dragonfly

package vcs

import (
	"syscall"
	"time"
)

// changed is when what the system knows of a file was changed last.
func changed(of *syscall.Stat_t) time.Time { return time.Unix(of.Ctim.Unix()) }
