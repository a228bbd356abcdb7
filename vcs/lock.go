package vcs

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

const (
	// firstWait and longestWait are between two looks at a lock that somebody else has.
	firstWait, longestWait = 2 * time.Millisecond, 50 * time.Millisecond
	// retryAfter is when it makes sense to ask again for what somebody else is working on.
	retryAfter = 5 * time.Second
)

var errLocked = errors.New("it is locked")

// lock takes the lock that a file stands for, among goroutines and processes, or waits for it until ctx ends. The system gives it back when the
// process ends, however it does.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		unlock, err = tryLock(path)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(errLocked, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// tryLock is lock without waiting: errLocked if somebody has it.
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
	// Prune removes the file of a folder that goes. Whoever had opened it before has the lock of nothing.
	held, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		return nil, errors.Join(errLocked, file.Close())
	}
	return func() {
		// A process that is being started has the file, too, until its program runs: closing ours wouldn't give the lock back.
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
		_ = file.Close()
	}, nil
}
