package vcs

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockOf is the file that stands for the lock of a folder.
func lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

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

// temporary is how the names begin of folders in which the one of a path is made.
func temporary(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// makeBeside has a folder made beside the one that it is going to be, and gives it that name in the end: it is there as a whole or not at all. What
// others have left who were killed at that is removed. The lock of the folder is held. What is there may be an empty folder, or with force anything.
func makeBeside(ctx context.Context, destination string, force bool, fill func(path string) error) (err error) {
	if err := sweep(destination); err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(destination), temporary(destination)+rand.Text()[:12])
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeAll(path))
		}
	}()
	if err := fill(path); err != nil {
		return err
	}
	if err := errors.Join(syncFolder(path), ctx.Err()); err != nil {
		return err
	}
	// The system's own takes the place of an empty folder, too.
	switch err := syscall.Rename(path, destination); {
	case err != nil && force:
		return replace(path, destination)
	case err != nil:
		return &os.LinkError{Op: "rename", Old: path, New: destination, Err: err}
	}
	return syncFolder(filepath.Dir(destination))
}

// replace puts a folder in the place of another one, which goes then.
func replace(path, destination string) error {
	old := replaced(destination)
	if err := syscall.Rename(destination, old); err != nil {
		return err
	}
	if err := syscall.Rename(path, destination); err != nil {
		return errors.Join(err, syscall.Rename(old, destination))
	}
	return errors.Join(syncFolder(filepath.Dir(destination)), removeAll(old))
}

// replaced is where a folder is while another one takes its place.
func replaced(destination string) string {
	return filepath.Join(filepath.Dir(destination), temporary(destination)+"old")
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
func sweep(path string) error {
	parent := filepath.Dir(path)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary(path)) {
			if err := removeAll(filepath.Join(parent, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
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
