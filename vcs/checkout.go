package vcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		return checkout, wrapped("checkout", destination, err)
	}
	unlock, err := lockFolder(ctx, destination, o.noWait)
	if err != nil {
		return Checkout{}, wrapped("checkout", destination, err)
	}
	defer unlock()
	if err := present(destination, commit, method); !errors.Is(err, errAbsent) {
		return checkout, wrapped("checkout", destination, err)
	}
	checkout.Reused = false
	checkout.Warnings, err = r.make(ctx, commit, destination, method, o)
	return checkout, wrapped("checkout", destination, err)
}

// wrapped says of an error what it is about.
func wrapped(op, destination string, err error) error {
	var refused *refusedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLocked):
		return &ContentionError{Path: destination, RetryAfter: retryAfter, Err: err}
	case errors.As(err, &refused):
		return &ConfigError{op, destination, refused.error}
	}
	return &RuntimeError{op, destination, err}
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
	case fromSystem(err):
		return err
	case err != nil:
		return &refusedError{err}
	case m.Commit != commit:
		return refuse("it holds the commit %s, and %s is wanted: choose another folder", m.Commit, commit)
	case m.Method != method:
		return refuse("it is a %s, and a %s is wanted: choose another folder", m.Method, method)
	}
	return nil
}

// make makes the folder. The lock is held.
func (r *Repository) make(ctx context.Context, commit Commit, destination string, method Method, o checkoutOptions) (warnings []string, err error) {
	info, err := r.commit(commit)
	if err != nil {
		return nil, r.explained(err)
	}
	w := &writer{repository: r, options: o, track: method == Clone}
	left, err := makeBeside(ctx, destination, false, func(path string) (err error) {
		root, err := os.OpenRoot(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		if err := w.write(ctx, root, info.tree); err != nil {
			return err
		}
		if method == Clone {
			if err := r.clone(ctx, root, commit, w); err != nil {
				return err
			}
		}
		if err := writeMarker(root, marker{commit, method}); err != nil {
			return err
		}
		return w.finish(root)
	})
	return append(left, w.warnings...), r.explained(err)
}
