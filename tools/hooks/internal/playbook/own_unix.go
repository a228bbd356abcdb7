//go:build unix

package playbook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// own makes a folder that only the user of this process may use, and takes it for this process, until the file that it
// returns is closed. A folder that another user might exchange or write is an error: credentials will be in it.
func own(folder string) (lock *os.File, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return nil, err
	}
	state, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: is a link: name the folder itself", folder)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: is no folder", folder)
	case !ok || int(state.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s: other users may write it: set another folder, or its owner and its mode", folder)
	}
	lock, err = os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: is in use by another process: set another folder", folder)
		}
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return lock, nil
}
