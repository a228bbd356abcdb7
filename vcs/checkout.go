package vcs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Checkout is a version in a folder.
type Checkout struct {
	// Path is the folder, Commit what is in it.
	Path   string
	Commit Commit
	// Reused tells that it was there already.
	Reused bool
	// Warnings are what whoever uses the files may want to know, such as that one is kept by Git LFS elsewhere.
	Warnings []string
}

// Checkout brings the files of a revision into a folder, unless they are there already (spec: vcs 17). The folder is there as a whole or not at
// all, and what is in it isn't looked at again: see Verify. It is a *ConfigError if the folder has another commit, or something else; a
// *ContentionError if somebody else works on it and ctx ends meanwhile. A tag and a branch at the same commit may share a folder (spec: vcs 19). Beside
// the folder there is a file by which goroutines and processes wait for each other.
func (r *Repository) Checkout(ctx context.Context, revision, destination string, method Method, options ...CheckoutOption) (Checkout, error) {
	refused := func(err error) (Checkout, error) { return Checkout{}, &ConfigError{"checkout", destination, err} }
	o, err := newCheckoutOptions(method, options)
	if err != nil {
		return refused(err)
	}
	commit, err := r.Resolve(ctx, revision)
	if err != nil {
		return Checkout{}, err
	}
	destination, err = filepath.Abs(destination)
	if err != nil {
		return refused(err)
	}
	checkout := Checkout{Path: destination, Commit: commit, Reused: true}
	if err := present(destination, commit, method); !errors.Is(err, errAbsent) {
		return checkout, wrapped(err, destination)
	}
	if err := os.MkdirAll(filepath.Dir(destination), 0o755); err != nil {
		return Checkout{}, &RuntimeError{"checkout", destination, err}
	}
	unlock, err := o.lock(ctx, destination)
	if err != nil {
		return Checkout{}, err
	}
	defer unlock()
	if err := present(destination, commit, method); !errors.Is(err, errAbsent) {
		return checkout, wrapped(err, destination)
	}
	checkout.Reused = false
	checkout.Warnings, err = r.make(ctx, commit, destination, method, o)
	return checkout, wrapped(err, destination)
}

// wrapped says of an error what it is about.
func wrapped(err error, destination string) error {
	var refused *refusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &ConfigError{"checkout", destination, refused.error}
	}
	return &RuntimeError{"checkout", destination, err}
}

// refusedError is one that no other try will mend.
type refusedError struct{ error }

func refuse(format string, args ...any) error { return &refusedError{fmt.Errorf(format, args...)} }

// present tells whether a commit is checked out in a folder: nil if it is, errAbsent if nothing is there.
func present(path string, commit Commit, method Method) error {
	m, err := readMarker(path)
	switch {
	case errors.Is(err, errAbsent):
		return errAbsent
	case err != nil:
		return &refusedError{err}
	case m.Commit != commit:
		return refuse("it holds the commit %s, and %s is wanted: choose another folder", m.Commit, commit)
	case m.Method != method:
		return refuse("it is a %s, and a %s is wanted: choose another folder", m.Method, method)
	}
	return nil
}

// lockOf is the file that stands for the lock of a folder.
func lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// lock takes the lock of a folder.
func (o checkoutOptions) lock(ctx context.Context, path string) (unlock func(), err error) {
	if o.noWait {
		unlock, err = tryLock(lockOf(path))
	} else {
		unlock, err = lock(ctx, lockOf(path))
	}
	switch {
	case errors.Is(err, errLocked):
		return nil, &ContentionError{Path: path, RetryAfter: retryAfter, Err: err}
	case err != nil:
		return nil, &RuntimeError{"checkout", path, err}
	}
	return unlock, nil
}

// temporary is how the names begin of folders in which the one of a path is made.
func temporary(path string) string { return "." + filepath.Base(path) + ".tmp-" }

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

// make makes the folder beside the one that it is going to be, and gives it that name in the end. The lock is held.
func (r *Repository) make(ctx context.Context, commit Commit, destination string, method Method, o checkoutOptions) (warnings []string, err error) {
	if err := sweep(destination); err != nil {
		return nil, err
	}
	info, err := r.commit(commit)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(filepath.Dir(destination), temporary(destination)+rand.Text()[:12])
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeAll(path))
		}
	}()
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	w := &writer{repository: r, options: o, track: method == Clone}
	if err := w.write(ctx, root, info.tree); err != nil {
		return nil, err
	}
	if method == Clone {
		if err := r.clone(ctx, root, commit, w); err != nil {
			return nil, err
		}
	}
	if err := writeMarker(root, marker{commit, method}); err != nil {
		return nil, err
	}
	if err := w.finish(root); err != nil {
		return nil, err
	}
	if err := errors.Join(syncFolder(path), ctx.Err()); err != nil {
		return nil, err
	}
	// The system's own takes the place of an empty folder, too.
	if err := syscall.Rename(path, destination); err != nil {
		return nil, &os.LinkError{Op: "rename", Old: path, New: destination, Err: err}
	}
	return w.warnings, syncFolder(filepath.Dir(destination))
}
