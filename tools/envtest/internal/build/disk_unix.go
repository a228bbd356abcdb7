//go:build linux || darwin || freebsd

package build

import (
	"os"
	"syscall"
)

func freeDisk(dir string) (bytes, volume uint64, ok bool) {
	var system syscall.Statfs_t
	if err := syscall.Statfs(dir, &system); err != nil {
		return 0, 0, false
	}
	info, err := os.Stat(dir)
	if err != nil {
		return 0, 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(max(system.Bavail, 0)) * uint64(system.Bsize), uint64(stat.Dev), true
}
