package vcs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Prune removes the checkouts below the folder base that aren't in use any more, and the temporary folders of
// interrupted checkouts. inUse is called with the path of each checkout and reports whether to keep it. Prune also
// keeps checkouts that somebody is working on, and everything that isn't a checkout. It skips folders that it has no
// permission to read.
//
// It returns the removed paths, and one error that joins a *RuntimeError for each path that couldn't be removed or
// read; Prune goes on with the other paths. It is safe to call while others check out or prune.
func Prune(ctx context.Context, base string, inUse func(path string) bool) (removed []string, err error) {
	base, err = filepath.Abs(base)
	if err != nil {
		return nil, &ConfigError{"prune", base, err}
	}
	// The dot makes WalkDir enter a base that is a symbolic link. The paths below the base don't contain the dot.
	p := &pruner{base: base + string(filepath.Separator) + "."}
	err = filepath.WalkDir(p.base, func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return p.visit(path, e, err)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &RuntimeError{"prune", base, err}
	}
	for _, path := range p.half {
		name, _ := temporaryOf(filepath.Base(path))
		p.prune(filepath.Join(filepath.Dir(path), name), path)
	}
	for _, path := range p.found {
		if !inUse(path) {
			p.prune(path, path)
		}
	}
	return p.removed, errors.Join(p.failed...)
}

// pruner holds the state of one call of Prune.
type pruner struct {
	base string
	// found has the checkouts, and half has the temporary folders.
	found, half, removed []string
	failed               []error
}

func (p *pruner) fail(path string, err error) {
	p.failed = append(p.failed, &RuntimeError{"prune", path, err})
}

// visit collects the folders that may be removed. It is called by filepath.WalkDir. Folders may belong to another user,
// or vanish meanwhile.
func (p *pruner) visit(path string, e fs.DirEntry, err error) error {
	switch {
	case err != nil && path == p.base:
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		p.fail(path, err)
		return nil
	case !e.IsDir():
		return nil
	}
	_, isHalf := temporaryOf(e.Name())
	switch {
	case path == p.base && isMarked(path):
		return filepath.SkipDir // the base itself is never removed
	case path == p.base:
		return nil
	case isHalf:
		p.half = append(p.half, path)
		return filepath.SkipDir
	case isMarked(path):
		p.found = append(p.found, path)
		return filepath.SkipDir
	}
	return nil
}

// isMarked reports whether a folder is a checkout.
func isMarked(path string) bool {
	_, err := os.Lstat(filepath.Join(path, markerName))
	return err == nil
}

// prune removes a folder: the checkout at path, or one of its temporary folders.
func (p *pruner) prune(path, folder string) {
	gone, err := prune(path, folder)
	if err != nil {
		p.fail(folder, err)
	}
	if gone {
		p.removed = append(p.removed, folder)
	}
}

// prune removes a folder under the lock of a path. gone is false if somebody holds the lock or has already removed the
// folder.
func prune(path, folder string) (gone bool, err error) {
	unlock, err := tryLock(lockOf(path))
	if errors.Is(err, errLocked) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// A process that waits for the lock notices that the lock file is gone, and makes a new one.
	defer func() {
		err = errors.Join(err, os.Remove(lockOf(path)))
		unlock()
	}()
	half := folder
	if folder == path {
		// Rename it first, so that readers find the whole checkout or nothing.
		half = beside(path)
		if err = os.Chmod(folder, 0o755); err == nil {
			err = os.Rename(folder, half)
		}
	} else {
		_, err = os.Lstat(folder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = removeAll(half)
	}
	return err == nil, err
}
