package publishing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock waits until no other process has locked the folder, and locks it until release is called or this process ends.
func lock(ctx context.Context, folder string) (release func(), err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { _ = file.Close() }, nil // nothing was written
		}
		select {
		case <-ctx.Done():
			_ = file.Close() // nothing was written
			return nil, fmt.Errorf("%s: %w: %w", file.Name(), ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
