package vcs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder takes the lock of a folder, whose parents it makes; errLocked if somebody else has it, until ctx ends or at once.
func lockFolder(ctx context.Context, path string, noWait bool) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if noWait {
		return tryLock(lockOf(path))
	}
	return lock(ctx, lockOf(path))
}

// makeBeside has a folder made beside the one that it is going to be, and gives it that name in the end: it is there as a whole or not at all. What
// others have left who were killed at that is removed. The lock of the folder is held. What is there may be an empty folder, or with force anything.
// left are warnings of what couldn't be removed.
func makeBeside(ctx context.Context, destination string, force bool, fill func(path string) error) (left []string, err error) {
	if left, err = sweep(destination); err != nil {
		return left, err
	}
	path := beside(destination)
	if err := os.Mkdir(path, 0o755); err != nil {
		return left, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeAll(path))
		}
	}()
	if err := fill(path); err != nil {
		return left, err
	}
	if err := errors.Join(syncFolder(path), ctx.Err()); err != nil {
		return left, err
	}
	// The system's own takes the place of an empty folder, too.
	switch err := syscall.Rename(path, destination); {
	case err != nil && force:
		more, err := replace(path, destination)
		return append(left, more...), err
	case err != nil:
		return left, &os.LinkError{Op: "rename", Old: path, New: destination, Err: err}
	}
	return left, syncFolder(filepath.Dir(destination))
}

// replace puts a folder in the place of another one, which goes then. left are warnings of what of it couldn't be removed.
func replace(path, destination string) (left []string, err error) {
	old := replaced(destination)
	if err := syscall.Rename(destination, old); err != nil {
		return nil, err
	}
	if err := syscall.Rename(path, destination); err != nil {
		return nil, errors.Join(err, syscall.Rename(old, destination))
	}
	err = syncFolder(filepath.Dir(destination))
	return discard(old, destination), err
}

// discard removes a temporary folder of a path. What can't be removed, such as the files of somebody else, stays under a name at which nobody minds it.
func discard(folder, path string) (left []string) {
	if other := beside(path); syscall.Rename(folder, other) == nil {
		folder = other
	}
	if err := removeAll(folder); err != nil {
		return []string{fmt.Sprintf("%s: what was there before %s can't be removed: %v", folder, filepath.Base(path), err)}
	}
	return nil
}

// restore puts a folder back that replace had moved away when it was killed. The lock of the folder is held.
func restore(destination string) error {
	if _, err := os.Lstat(destination); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := syscall.Rename(replaced(destination), destination); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes what others have left who were killed while they had the lock.
func sweep(path string) (left []string, err error) {
	parent := filepath.Dir(path)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name, is := temporaryOf(e.Name()); is && name == shortened(filepath.Base(path)) {
			left = append(left, discard(filepath.Join(parent, e.Name()), path)...)
		}
	}
	return left, nil
}

// removeAll is os.RemoveAll also for folders without the right to write.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(at, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
