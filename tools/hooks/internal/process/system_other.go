//go:build !linux

package process

import (
	"os"
	"syscall"
)

// On other systems only the process itself is ended, and its memory isn't limited.

func apart() *syscall.SysProcAttr { return nil }

func limited(command []string, _ int64) []string { return command }

func awaitExit(int) {}

func terminateGroup(group int) { killGroup(group) }

func killGroup(group int) {
	if p, err := os.FindProcess(group); err == nil {
		_ = p.Kill()
	}
}

// EndMarked does nothing.
func EndMarked(string) {}

// waiting returns 0: what can be read isn't known.
func waiting(*os.File) int { return 0 }
