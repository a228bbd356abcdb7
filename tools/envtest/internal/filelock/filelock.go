package filelock

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// poll is the interval between attempts to take the lock. Acquire doesn't use a blocking flock, because a context can't
// interrupt it.
const poll = 50 * time.Millisecond

// Lock is one held lock. It is not safe for concurrent use.
type Lock struct {
	file *os.File
}

// Acquire takes the exclusive lock on the file at path, and waits while another process holds it. The file is created
// (mode 0600) if it doesn't exist. If Acquire has to wait and waiting isn't nil, it calls waiting once with the process
// id of the holder, or 0 if the id can't be read from the file. It returns the context's error when ctx ends first.
func Acquire(ctx context.Context, path string, waiting func(holder int)) (*Lock, error) {
	for told := false; ; {
		lock, err := Try(path)
		if err != nil || lock != nil {
			return lock, err
		}
		if !told && waiting != nil {
			waiting(holder(path))
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		case <-time.After(poll):
		}
	}
}

// Try takes the exclusive lock on the file at path if nobody holds it. Otherwise it returns nil and no error.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	locked, err := flock(file)
	if err != nil || !locked {
		_ = file.Close() // nothing was written to it
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, nil
	}
	if !sameFile(file, path) {
		_ = file.Close() // the file was removed between open and lock: others lock another file
		return nil, nil
	}
	lock := &Lock{file: file}
	lock.sign()
	return lock, nil
}

// Held reports whether a process holds the lock on the file at path. It returns false if the file doesn't exist.
func Held(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { _ = file.Close() }() // releases the lock that this check may have taken
	free, err := flock(file)
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	return !free, nil
}

// File returns the open file to which the lock belongs. A child process that inherits the file shares the lock. The
// lock is then free when both processes have closed the file or ended.
func (l *Lock) File() *os.File { return l.file }

// Release releases the lock. The file stays.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("unlock %s: %w", l.file.Name(), err)
	}
	return nil
}

// sign writes the id of the holding process into the file. Only messages use it, so errors are ignored.
func (l *Lock) sign() {
	if l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

func sameFile(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}
