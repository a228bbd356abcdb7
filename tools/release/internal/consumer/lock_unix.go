//go:build unix

package consumer

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// takeLock takes a lock that ends with the process or when the file is closed.
func takeLock(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another process verifies this repository: wait for its end")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	return file, nil
}
