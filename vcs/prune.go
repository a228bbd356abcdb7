package vcs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Prune removes the checkouts below a folder that aren't in use any more, and what was left of those that weren't finished (spec: vcs W18). inUse tells of the
// path of each whether it stays. One that somebody is working on stays. It returns what it has removed.
func Prune(ctx context.Context, base string, inUse func(path string) bool) (removed []string, err error) {
	base, err = filepath.Abs(base)
	if err != nil {
		return nil, &ConfigError{"prune", base, err}
	}
	var found, half []string
	err = filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !e.IsDir():
			return nil
		}
		if _, _, is := strings.Cut(e.Name(), ".tmp-"); is && strings.HasPrefix(e.Name(), ".") {
			half = append(half, path)
			return filepath.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(path, markerName)); err == nil {
			found = append(found, path)
			return filepath.SkipDir
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &RuntimeError{"prune", base, err}
	}
	for _, path := range half {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "."), ".tmp-")
		if gone, err := prune(filepath.Join(filepath.Dir(path), name), path); err != nil {
			return removed, &RuntimeError{"prune", path, err}
		} else if gone {
			removed = append(removed, path)
		}
	}
	for _, path := range found {
		if inUse(path) {
			continue
		}
		if gone, err := prune(path, path); err != nil {
			return removed, &RuntimeError{"prune", path, err}
		} else if gone {
			removed = append(removed, path)
		}
	}
	return removed, nil
}

// prune removes a folder under the lock of a path, if nobody has that.
func prune(path, folder string) (gone bool, err error) {
	unlock, err := tryLock(lockOf(path))
	if errors.Is(err, errLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	// Under another name first: a reader sees all of it, or nothing.
	half := folder
	if folder == path {
		half = filepath.Join(filepath.Dir(path), temporary(path)+"pruned")
		if err := errors.Join(removeAll(half), os.Chmod(folder, 0o755), os.Rename(folder, half)); err != nil {
			return false, err
		}
	}
	if err := removeAll(half); err != nil {
		return false, err
	}
	// Whoever waits for the lock sees that its file is gone, and makes another one.
	return true, os.Remove(lockOf(path))
}
