package vcs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// makeBeside makes a temporary folder beside the destination, calls fill to fill it, and renames it at the end. So the
// destination appears complete or not at all. It replaces an empty folder, or with force any folder. It also removes
// temporary folders that killed processes have left behind. left has warnings about files that couldn't be removed. The
// caller holds the lock of the folder.
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
	// Unlike os.Rename, syscall.Rename replaces an empty folder.
	switch err := syscall.Rename(path, destination); {
	case err != nil && force:
		more, err := replace(path, destination)
		return append(left, more...), err
	case err != nil:
		return left, &os.LinkError{Op: "rename", Old: path, New: destination, Err: err}
	}
	return left, syncFolder(filepath.Dir(destination))
}

// replace moves the folder path to destination, and removes the old folder there. left has warnings about files that
// couldn't be removed.
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

// discard removes a temporary folder of a path. Files that can't be removed, such as files of another user, stay in a
// folder with a new temporary name. left has a warning about them.
func discard(folder, path string) (left []string) {
	if other := beside(path); syscall.Rename(folder, other) == nil {
		folder = other
	}
	if err := removeAll(folder); err != nil {
		return []string{fmt.Sprintf("%s: can't remove an old folder of %s: %v", folder, filepath.Base(path), err)}
	}
	return nil
}

// restore moves a folder back that an interrupted replace has moved away. The caller holds the lock of the folder.
func restore(destination string) error {
	if _, err := os.Lstat(destination); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := syscall.Rename(replaced(destination), destination); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes the temporary folders that killed processes have left behind. The caller holds the lock.
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

// removeAll is os.RemoveAll, but it also removes read-only folders.
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

// lockOf returns the lock file of a folder.
func lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+shortened(filepath.Base(path))+".lock")
}

const (
	// temporaryMark is the part of a temporary name between the name of the folder and the end: random characters, or
	// oldEnd.
	temporaryMark    = ".tmp-"
	temporaryLetters = 12
	oldEnd           = "old"
)

// temporary returns the beginning of the names of a path's temporary folders.
func temporary(path string) string { return "." + shortened(filepath.Base(path)) + temporaryMark }

// beside returns a new path for a temporary folder of a path.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), temporary(path)+rand.Text()[:temporaryLetters])
}

// replaced returns the path to which the folder at destination is moved while it is replaced.
func replaced(destination string) string {
	return filepath.Join(filepath.Dir(destination), temporary(destination)+oldEnd)
}

// temporaryOf reports whether a name is the name of a temporary folder, and returns the shortened name of its
// destination. It checks the end of the name too, because a destination may have a name such as web.tmp-1.
func temporaryOf(name string) (of string, is bool) {
	at := strings.LastIndex(name, temporaryMark)
	if at < len(".x") || name[0] != '.' {
		return "", false
	}
	end := name[at+len(temporaryMark):]
	if end != oldEnd && (len(end) != temporaryLetters || strings.Trim(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "") {
		return "", false
	}
	return name[1:at], true
}

// shortened returns a name that leaves room for the additions of lock files and temporary folders. It replaces the end
// of a long name with a hash.
func shortened(name string) string {
	const limit = maxName - len(".") - len(temporaryMark) - temporaryLetters
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "~" + hex.EncodeToString(sum[:16])
	return strings.ToValidUTF8(name[:limit-len(end)], "") + end
}
