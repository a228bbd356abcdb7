package vcs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// firstWait and maxWait are the shortest and the longest wait between two attempts to take a lock.
	firstWait, maxWait = 2 * time.Millisecond, 50 * time.Millisecond
	// retryAfter is the value of ContentionError.RetryAfter.
	retryAfter = 5 * time.Second
)

var errLocked = errors.New("it is locked")

// lockFolder makes the parents of a folder and takes the lock of the folder. If somebody else holds the lock, it
// returns errLocked: at once with noWait, otherwise when ctx ends.
func lockFolder(ctx context.Context, path string, noWait bool) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		unlock, err = tryLock(lockOf(path))
		if noWait || !errors.Is(err, errLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(errLocked, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// tryLock takes a lock file, or returns errLocked if somebody else holds it. The lock excludes other goroutines and
// processes. The system releases it when the process ends.
func tryLock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return nil, errors.Join(errLocked, file.Close())
	case err != nil:
		return nil, errors.Join(&os.PathError{Op: "flock", Path: path, Err: err}, file.Close())
	}
	// Prune removes lock files. If the file was opened before it was removed, others can't see this lock.
	held, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		return nil, errors.Join(errLocked, file.Close())
	}
	return func() {
		// Closing alone may not release the lock: a child process that is being started shares the open file until
		// exec.
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
		_ = file.Close()
	}, nil
}
